/// What the index knows of one entry.
struct IndexedEntry: Sendable, Hashable {
  var name: EntryName
  /// The value's length, below 2⁴⁸.
  var byteCount: UInt64
  /// What the file takes on disk: a multiple of 512, below 2 TiB.
  var allocatedByteCount: UInt64
  var lastAccess: Timestamp
  /// `Timestamp.never` when it does not expire.
  var expiry: Timestamp
  var inode: UInt64
  var changeTime: Timestamp
  /// Nil as long as the attribute was not read.
  var lifetime: Lifetime?
  /// Whether attribute and content were checked for this inode and change time.
  var isVerified: Bool
  /// 28 bits of a seeded hash of the key that the check proved.
  var keyTag: UInt32

  /// What a longer file counts as. One of 2⁶³ bytes takes a line in a shell, and two of them must
  /// not make a total overflow.
  static let maximumByteCount: UInt64 = 1 << 48 - 1
}

/// An entry chosen to go, with what proves that its file is still the one that was chosen.
struct Victim: Sendable, Hashable {
  let name: EntryName
  let inode: UInt64
  var changeTime: Timestamp
  let byteCount: UInt64
  let allocatedByteCount: UInt64
  let lastAccess: Timestamp
  let expiry: Timestamp
}

extension Victim {
  /// An entry that is to go.
  init(_ entry: IndexedEntry) {
    self.init(
      name: entry.name, inode: entry.inode, changeTime: entry.changeTime,
      byteCount: entry.byteCount, allocatedByteCount: entry.allocatedByteCount,
      lastAccess: entry.lastAccess, expiry: entry.expiry)
  }
}

extension IndexedEntry {
  /// A victim whose file could not be removed.
  init(_ victim: Victim) {
    self.init(
      name: victim.name, byteCount: victim.byteCount,
      allocatedByteCount: victim.allocatedByteCount, lastAccess: victim.lastAccess,
      expiry: victim.expiry, inode: victim.inode, changeTime: victim.changeTime, lifetime: nil,
      isVerified: false, keyTag: 0)
  }
}
