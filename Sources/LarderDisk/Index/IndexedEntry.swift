import LarderBasics
package import LarderSystem

/// An entry as the index knows it.
package struct IndexedEntry: Sendable, Hashable {
  /// The full name of the file, extension included.
  package var name: EntryName
  /// The value's length, at most `maximumByteCount`.
  package var byteCount: UInt64
  /// The bytes that the file takes on disk: a multiple of 512, at most 1 TiB − 512.
  var allocatedByteCount: UInt64
  /// The last use that this process knows of. The disk may lag behind it.
  var lastAccess: Timestamp
  /// The expiry; `Timestamp.never` if the entry does not expire.
  package var expiry: Timestamp
  /// The inode. With the change time, it identifies the state of the file that this is known of.
  var inode: UInt64
  var changeTime: Timestamp
  /// The result of the check of attribute and content for this inode and change time; nil if this
  /// state of the file was not checked.
  var proof: FileProof?

  /// The largest length that is counted: `truncate` can make a file of 2⁶³ bytes.
  static let maximumByteCount: UInt64 = 1 << 40 - 1
}

extension IndexedEntry {
  /// Makes an entry from a file's status, unverified if there is no proof.
  package init(
    name: EntryName, status: FileStatus, lastAccess: Timestamp? = nil, proof: FileProof? = nil
  ) {
    self.init(
      name: name, byteCount: min(status.byteCount, Self.maximumByteCount),
      allocatedByteCount: min(status.allocatedByteCount, Self.maximumByteCount),
      lastAccess: lastAccess ?? status.lastAccess, expiry: status.modification.asExpiry,
      inode: status.inode, changeTime: status.change, proof: proof)
  }
}

/// The result of checking a file's attributes and content.
package struct FileProof: Sendable, Hashable {
  var lifetime: Lifetime
  /// The tag of the key whose value the file holds; see `CacheKey.tag`.
  var keyTag: UInt64
  /// Whether the file may have extended data. False only if the check proved that it has none.
  var hasData: Bool
}

/// The number of entries and the sums of their sizes.
///
/// The sums have 128 bits, because any program that can write to the directory can fill it with
/// sparse files of any length. A sum must not trap then, and must be right when they are gone
/// again.
package struct IndexTotals: Sendable, Hashable {
  /// The number of entries.
  package private(set) var count = 0
  private var bytes: UInt128 = 0
  private var allocatedBytes: UInt128 = 0

  /// Creates the totals of no entry.
  init() {}

  /// Creates the totals of one entry.
  init(byteCount: UInt64, allocatedByteCount: UInt64) {
    (count, bytes, allocatedBytes) = (1, UInt128(byteCount), UInt128(allocatedByteCount))
  }

  /// The bytes of all values, or the most that 64 bits hold.
  var byteCount: UInt64 { UInt64(clamping: bytes) }

  /// The bytes allocated to all files, or the most that 64 bits hold.
  var allocatedByteCount: UInt64 { UInt64(clamping: allocatedBytes) }

  static func += (totals: inout IndexTotals, other: IndexTotals) {
    totals.count += other.count
    totals.bytes += other.bytes
    totals.allocatedBytes += other.allocatedBytes
  }

  /// Subtracts down to zero at most, because what a removal of everything finds may not have been
  /// added with these sizes.
  static func -= (totals: inout IndexTotals, other: IndexTotals) {
    totals.count -= min(other.count, totals.count)
    totals.bytes -= min(other.bytes, totals.bytes)
    totals.allocatedBytes -= min(other.allocatedBytes, totals.allocatedBytes)
  }
}
