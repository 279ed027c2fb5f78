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
}

/// An entry chosen to go, with what proves that its file is still the one that was chosen.
struct Victim: Sendable, Hashable {
  let name: EntryName
  let inode: UInt64
  var changeTime: Timestamp
  let byteCount: UInt64
  let allocatedByteCount: UInt64
}
