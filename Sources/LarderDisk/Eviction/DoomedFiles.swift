import LarderBasics
import LarderSystem

/// Victims that have left the index, but not the disk yet, by name.
///
/// The table grows by one name at a time, like the index's own. A dictionary that grows to half a
/// million victims copies itself a dozen times, the last time for a tenth of a second under the
/// engine's lock.
struct DoomedFiles: Sendable {
  /// The inode and change time that identify the file that was judged, and the sizes and the cause
  /// that it was counted with.
  struct Mark: Sendable {
    let inode: UInt64
    var changeTime: PackedStamp
    /// The last use that was known when the file was judged.
    fileprivate(set) var lastAccess: PackedStamp
    fileprivate let byteCount: UInt64
    fileprivate let allocatedByteCount: UInt64
    /// The cause that the victim was counted with.
    let cause: RemovalCause
  }

  private var names = NameTable()
  private var marks = ChunkedArray<Mark>()
  /// The number of victims and the sums of their sizes.
  private(set) var totals = IndexTotals()

  var isEmpty: Bool { names.count == 0 }

  /// The number of victims whose files are still to be removed.
  var count: Int { names.count }

  func contains(_ name: EntryName) -> Bool { !isEmpty && names.slot(of: name) != nil }

  /// The mark of a name.
  ///
  /// - Complexity: O(1).
  subscript(name: EntryName) -> Mark? {
    guard !isEmpty, let slot = names.slot(of: name) else { return nil }
    return marks[slot]
  }

  /// Adds a victim. Replaces an older victim of the name, because its file is this one or is gone.
  ///
  /// - Complexity: O(1).
  mutating func insert(_ victim: Victim) {
    remove(victim.name)
    // There is room, because the index had the name and holds no more extensions than fit here.
    guard let slot = names.insert(victim.name) else { return }
    marks.put(
      Mark(
        inode: victim.inode, changeTime: PackedStamp(victim.changeTime),
        lastAccess: PackedStamp(victim.lastAccess), byteCount: victim.byteCount,
        allocatedByteCount: victim.allocatedByteCount,
        cause: victim.cause), at: slot)
    totals.add(byteCount: victim.byteCount, allocatedByteCount: victim.allocatedByteCount)
  }

  /// Notes that this process has stamped the file of a name, which is still the one judged.
  mutating func restamp(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, lastAccess: Timestamp
  ) {
    guard let slot = names.slot(of: name), marks[slot].inode == inode else { return }
    marks[slot].changeTime = PackedStamp(changeTime)
    marks[slot].lastAccess = max(marks[slot].lastAccess, PackedStamp(lastAccess))
  }

  /// Forgets a name.
  ///
  /// - Returns: Whether it was there.
  @discardableResult
  mutating func remove(_ name: EntryName) -> Bool {
    guard !isEmpty, let slot = names.slot(of: name) else { return false }
    let mark = marks[slot]
    totals.subtract(byteCount: mark.byteCount, allocatedByteCount: mark.allocatedByteCount)
    names.remove(slot)
    return true
  }

  /// Takes the memory of a large table that is empty, to be given back outside of a lock.
  mutating func takeExcess() -> DoomedFiles? {
    guard isEmpty, marks.count > NameTable.smallCount else { return nil }
    defer { self = DoomedFiles() }
    return self
  }
}
