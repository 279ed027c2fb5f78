import Glibc

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

// A directory that another user has filled: names, kinds, lengths, stamps, attributes. It is
// opened, listed, read in every way, verified, stamped and cleaned. Nothing traps, foreign files
// stay, and no value is served that its attribute contradicts.
func fuzz(_ bytes: [UInt8]) {
  withDirectory { path in
    var random = ByteRandom(bytes)
    for _ in 0..<6 where !random.isEmpty { plant(in: path, &random) }
    var configuration = DiskCache.Configuration(sizeLimit: random.next() & 1 == 0 ? nil : 2_000)
    configuration.clock = ManualClock(Timestamp(seconds: 1_800_000_000)).wallClock
    configuration.mode = [.shared, .exclusive, .readOnly, .fixture][Int(random.next() & 3)]
    configuration.requireProof = random.next() & 1 == 0
    let foreign = names(in: path).filter {
      EntryName(Array($0.utf8)) == nil && !$0.hasPrefix(".larder-")
    }
    do throws(CacheError) {
      let cache = try DiskCache(directory: path, configuration: configuration)
      try use(cache, isReadOnly: configuration.mode.isReadOnly)
      try cache.close()
    } catch {
      require(!error.description.isEmpty, "an error without a word")
    }
    let left = Set(names(in: path))
    require(foreign.allSatisfy(left.contains), "foreign things are gone: \(foreign)")
  }
}

private let keys = ["a", "b", "", "key with spaces", "\u{0}"]

private func use(_ cache: DiskCache, isReadOnly: Bool) throws(CacheError) {
  for key in keys {
    let value = try cache.value(forKey: key)
    let read = try cache.read(forKey: key, extending: .off)
    require(
      isReadOnly || value == nil || read == nil || value == read?.value, "two values of \(key)")
    _ = try cache.contains(key)
    _ = try cache.entry(forKey: key)
  }
  _ = try cache.entries()
  _ = try cache.survey()
  _ = try cache.totalSize()
  _ = try cache.verify()
  guard !isReadOnly else { return }
  for entry in try cache.entries() { _ = try cache.stamp(entry.name) }
  try cache.flush()
  // A stamped entry is sound, whatever it was before.
  try cache.store([1], forKey: "a")
  try cache.removeExpired()
  try cache.trim(toCount: 1)
  try cache.trim(toAge: .seconds(1))
  _ = try cache.removeAll()
  require(try cache.count() == 0, "something is left")
}

/// Creates one file in the directory.
private func plant(in folder: String, _ random: inout ByteRandom) {
  let path = "\(folder)/\(name(&random))"
  switch random.next() & 15 {
  case 0: _ = unsafe mkdir(path, 0o700)
  case 1: _ = unsafe mkfifo(path, 0o600)
  case 2: _ = unsafe symlink("nowhere", path)
  case 3: _ = unsafe symlink("/etc/passwd", path)
  default: plantFile(path, &random)
  }
}

private func name(_ random: inout ByteRandom) -> String {
  let key = keys[Int(random.next() % UInt64(keys.count))]
  let entry = EntryName(digest: MD5.digest(of: Array(key.utf8).span), fileExtension: .none)
  switch random.next() & 7 {
  case 0: return "\(entry).json"
  case 1: return ".larder-\(random.next() & 0xffff)-1"
  case 2: return "CACHEDIR.TAG"
  case 3:
    let bytes = random.takeSome(60).filter { $0 != 0 && $0 != 47 }
    return String(decoding: bytes, as: UTF8.self).isEmpty
      ? "x" : "x\(String(decoding: bytes, as: UTF8.self))"
  default: return entry.description
  }
}

private func plantFile(_ path: String, _ random: inout ByteRandom) {
  let file = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard file >= 0 else { return }
  defer { close(file) }
  let content = random.takeSome(40)
  unsafe write(file, content, content.count)
  if random.next() & 15 == 0 { ftruncate(file, off_t(random.next() & 0xfff_ffff)) }
  if random.next() & 3 != 0 {
    let attribute = attribute(content, &random)
    _ = unsafe c_fsetxattr(file, "user.larder", attribute, attribute.count, 0)
  }
  if random.next() & 3 == 0 {
    let data = random.takeSome()
    _ = unsafe c_fsetxattr(file, "user.larder.data", data, data.count, 0)
  }
  let times = [time(&random), time(&random)]
  unsafe futimens(file, times)
  if random.next() & 15 == 0 { fchmod(file, mode_t(random.next() & 0o7777)) }
}

/// Returns a valid attribute, a valid one with one byte changed, or any bytes.
private func attribute(_ content: [UInt8], _ random: inout ByteRandom) -> [UInt8] {
  let key = Array(keys[Int(random.next() % UInt64(keys.count))].utf8)
  let lifetimes: [Lifetime] = [.never, .fixed, .seconds(1), .seconds(.max)]
  let forms: [KeyProof.Form] = [.key, .digest, .key, .keyWithin(0)]
  let hash = XXH64(content.span).finalize()
  let lifetime = lifetimes[Int(random.next() & 3)]
  var bytes = EntryAttribute.bytes(
    hash, lifetime, key: key.span, as: forms[Int(random.next() & 3)])
  switch random.next() & 3 {
  case 0: return random.takeSome()
  case 1: bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
  default: break
  }
  return bytes
}

private func time(_ random: inout ByteRandom) -> timespec {
  let seconds: [Int64] = [
    1_800_000_000, 1_800_000_001, 1_900_000_000, 0, -1, 1 << 31 - 1, 1 << 32 - 1, 1 << 33, .max / 2,
  ]
  let base = seconds[Int(random.next() % UInt64(seconds.count))]
  return timespec(tv_sec: Int(base), tv_nsec: Int(random.next() & 1) * 999_999_999)
}

private func names(in path: String) -> [String] {
  guard let stream = unsafe opendir(path) else { return [] }
  defer { unsafe closedir(stream) }
  var names: [String] = []
  while let entry = unsafe readdir(stream) {
    unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      names.append(unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
    }
  }
  return names.filter { $0 != "." && $0 != ".." }
}
