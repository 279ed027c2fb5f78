import Larder

/// A judge of the directory of one state. It lists the directory, reads every key, repairs it and
/// stores again.
///
/// It prints a line `value KEY VERSION…` for each key, with all versions whose value was served, or
/// `absent`, or `wrong`. It prints a line `bad WHAT NUMBER` for each violation.
struct CrashJudge {
  private let options: CrashOptions
  private var servedNames: Set<String> = []
  private var misses = 0

  /// The key of the value that the judge stores.
  private static let lateKey = "after"
  private static let lateValue: [UInt8] = [1, 2, 3]

  init(_ options: CrashOptions) {
    self.options = options
  }

  mutating func run() throws {
    let before = StressWalk(options.directory)
    if options.isBlind { return try readBlindly() }
    if !before.isMissing { try lookWithoutChange(before) }
    let disk = try CrashBenchmark.open(options)
    try readAll(disk)
    // An earlier judge of this disk may have stored it, before a second power cut.
    if let found = try read(Self.lateKey, disk) {
      bad("wrong-after", found.bytes == Self.lateValue ? 0 : 1)
      servedNames.insert(Self.name(of: Self.lateKey, disk))
    }
    try judgeRest(before, disk)
    try storeAgain(disk)
    try disk.close()
    print("done files=\(before.files.count) misses=\(misses)")
  }

  private func bad(_ what: String, _ number: Int) {
    if number != 0 { print("bad \(what) \(number)") }
  }

  /// Lists and verifies before anything is repaired.
  private func lookWithoutChange(_ before: StressWalk) throws {
    let disk = try CrashBenchmark.open(options) { $0.mode = .readOnly }
    let verification = try disk.verify()
    bad("unreadable", verification.unreadable.count)
    bad("other-version", verification.otherVersions.count)
    bad("unlisted", before.files.count - (try disk.entries().count))
    try disk.close()
  }

  /// Reads a key in one of three ways; nil if there is no value.
  private func read(_ key: String, _ disk: DiskCache) throws -> CrashFound? {
    switch servedNames.count % 3 {
    case 0: return try disk.value(forKey: key).map { CrashFound(bytes: $0) }
    case 1:
      return try disk.read(forKey: key).map {
        CrashFound(bytes: $0.value, extendedData: $0.extendedData)
      }
    default:
      return try disk.withFile(forKey: key) { file in
        var bytes = [UInt8](repeating: 0, count: file.byteCount)
        var content: [UInt8] = []
        while content.count < file.byteCount {
          let byteCount = try file.read(into: &bytes)
          if byteCount == 0 { break }
          content += bytes[..<byteCount]
        }
        return CrashFound(bytes: content)
      }
    }
  }

  /// Reads every key of the input, and prints the versions that are served.
  private mutating func readAll(_ disk: DiskCache) throws {
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      guard let key = words.first else { continue }
      let found = try read(key, disk)
      if found != nil { servedNames.insert(Self.name(of: key, disk)) }
      say(key, words.dropFirst().compactMap { Int($0) }, found)
    }
  }

  private static func name(of key: String, _ disk: DiskCache) -> String {
    String(disk.path(forKey: key).split(separator: "/").last ?? "")
  }

  private func say(_ key: String, _ versions: [Int], _ found: CrashFound?) {
    guard let found else {
      print("value \(key) absent")
      return
    }
    let matching = versions.filter { version in
      let value = CrashValue(key: key, version: version, isPlain: options.isPlain)
      guard value.bytes == found.bytes else { return false }
      return found.extendedData.map { $0 == value.extendedData } ?? true
    }
    let text = matching.isEmpty ? "wrong" : matching.map(String.init).joined(separator: " ")
    print("value \(key) \(text)")
  }

  /// Compares the counted misses with the files that existed. After a sweep and a repair, compares
  /// the remaining files with the values that were served.
  private mutating func judgeRest(_ before: StressWalk, _ disk: DiskCache) throws {
    let counted = disk.statistics.misses.filter { $0.key != .absent }
    misses = counted.values.reduce(0, +)
    let unserved = before.files.count { !servedNames.contains($0.name) }
    bad("uncounted", abs(unserved - misses))
    try disk.removeExpired()
    _ = try disk.verify(repairs: true)
    try disk.flush()
    _ = try disk.count()
    let after = StressWalk(options.directory)
    if !options.requiresProof {
      bad("left", after.files.count { !servedNames.contains($0.name) })
    }
    bad("temporaries", after.temporaryCount)
    bad("damaged-after-repair", try disk.verify().damaged.count)
  }

  private func storeAgain(_ disk: DiskCache) throws {
    try disk.store(Self.lateValue, forKey: Self.lateKey)
    let isServed = try disk.value(forKey: Self.lateKey) == Self.lateValue
    bad("not-stored-again", isServed ? 0 : 1)
  }

  /// Reads in a mode that checks no hash, so that it gets whatever the file system has under the
  /// name.
  private mutating func readBlindly() throws {
    let disk = try CrashBenchmark.open(options) { $0.mode = .fixture }
    try readAll(disk)
    print("done")
  }
}

/// The value that a read returned.
private struct CrashFound {
  let bytes: [UInt8]
  /// The extended data; nil if the way of reading does not return it.
  var extendedData: [UInt8]?
}
