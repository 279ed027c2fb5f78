import LarderBasics
import LarderSystem

/// An entry chosen to go, with what proves that its file is still the one that was chosen.
package struct Victim: Sendable, Hashable {
  let name: EntryName
  /// Which file was chosen. With the change time, which a use or a store by anyone moves.
  let inode: UInt64
  var changeTime: Timestamp
  /// The sizes it was counted with, for the report and for making it an entry again.
  let byteCount: UInt64
  let allocatedByteCount: UInt64
  let lastAccess: Timestamp
  let expiry: Timestamp
  /// What it is counted as.
  var cause = RemovalCause.evicted
}

extension Victim {
  /// The same, gone for another cause.
  func counted(as cause: RemovalCause) -> Victim {
    var victim = self
    victim.cause = cause
    return victim
  }

  /// An entry that is to go.
  init(_ entry: IndexedEntry) {
    self.init(
      name: entry.name, inode: entry.inode, changeTime: entry.changeTime,
      byteCount: entry.byteCount, allocatedByteCount: entry.allocatedByteCount,
      lastAccess: entry.lastAccess, expiry: entry.expiry)
  }
}
