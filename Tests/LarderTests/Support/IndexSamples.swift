import Glibc

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

/// Names, entries and stamps for tests of the index.
enum IndexSample {
  /// Returns the name of a number. Names are in the order of their numbers.
  static func name(_ number: Int, extension text: String = "") -> EntryName {
    EntryName(
      digest: MD5Digest(high: UInt64(number), low: 0),
      fileExtension: FileExtension(Array(text.utf8)) ?? .none)
  }

  /// Returns the entry of a number. By default it never expires.
  static func entry(
    _ number: Int, used seconds: Int64 = 0, expires: Int64? = nil, bytes: UInt64 = 100,
    allocated: UInt64 = 4096
  ) -> IndexedEntry {
    IndexedEntry(
      name: name(number), byteCount: bytes, allocatedByteCount: allocated,
      lastAccess: Timestamp(seconds: seconds),
      expiry: expires.map { Timestamp(seconds: $0) } ?? .never, inode: UInt32(number) + 1,
      changeTime: Timestamp(seconds: 7, nanoseconds: Int64(number)))
  }

  /// Returns the status of an entry's file, with the entry's change time or another one.
  static func status(of entry: IndexedEntry, changed: Timestamp? = nil) -> FileStatus {
    var raw = stat()
    raw.st_ino = .init(entry.inode)
    (raw.st_mode, raw.st_nlink) = (S_IFREG | 0o600, 1)
    raw.st_size = .init(entry.byteCount)
    raw.st_blocks = .init(entry.allocatedByteCount / 512)
    (raw.st_atim, raw.st_mtim) = (entry.lastAccess.timespec, entry.expiry.timespec)
    raw.st_ctim = (changed ?? entry.changeTime).timespec
    return FileStatus(raw)
  }

  /// Returns an index of entries, each placed by its last access.
  static func index(
    _ entries: [IndexedEntry], inClassesBy measure: DiskCache.SizeMeasure? = nil
  ) -> EntryIndex {
    var index = EntryIndex(inClassesBy: measure)
    for entry in entries { index.upsert(entry, order: .byLastAccess) }
    return index
  }
}

extension EntryIndex {
  /// The earliest expiry; nil if nothing can expire.
  var nextExpiry: Timestamp? { expiries.first?.stamp.timestamp }

  /// Returns the numbers of the entries in the order of last access.
  func numbers() -> [Int] {
    entriesInOrder().map { Int($0.name.digest.high) }
  }
}

extension [Victim] {
  /// The numbers of the victims.
  var numbers: [Int] { map { Int($0.entry.name.digest.high) } }
  var expired: [Victim] { filter { $0.cause == .expired } }
  var evicted: [Victim] { filter { $0.cause == .evicted } }
}

extension EntryIndex {
  /// Returns all entries, the least recently used first. Those used at the same time go by name.
  func entriesInOrder() -> [IndexedEntry] {
    var (rest, entries) = (self, [IndexedEntry]())
    while let entry = rest.takeFirst(where: { _ in true }, if: { _ in true }) {
      entries.append(entry)
    }
    return entries + (0..<stuck.nodes.count).map { entry(at: stuck.nodes[$0].slot) }
  }
}

extension EntryIndex {
  /// Notes the last access of the entry of a name, and returns whether there is one.
  @discardableResult
  mutating func touch(
    _ name: EntryName, at time: Timestamp, order placement: Placement = .mostRecent
  ) -> Bool {
    guard let slot = slot(of: name) else { return false }
    use(slot, at: time, order: placement)
    return true
  }

  /// Sets the expiry of the entry of a name, and returns whether there is one.
  @discardableResult
  mutating func setExpiry(_ expiry: Timestamp, of name: EntryName) -> Bool {
    guard let slot = slot(of: name) else { return false }
    unstick(slot)
    setExpiry(expiry, of: slot)
    return true
  }
}
