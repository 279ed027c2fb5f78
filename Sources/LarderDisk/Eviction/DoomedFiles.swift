import LarderBasics
import LarderSystem

/// Victims that have left the index and whose files have not left the disk, by name.
///
/// A table like the index's own, which never stops to grow: a dictionary of half a million victims
/// copies itself a dozen times on the way, the last time for a tenth of a second under the engine's
/// lock.
struct DoomedFiles: Sendable {
  /// What proves that a file is the one that was judged, and what it was counted with.
  struct Mark: Sendable {
    let inode: UInt64
    var changeTime: PackedStamp
    fileprivate let byteCount: UInt64
    fileprivate let allocatedByteCount: UInt64
    /// What the victim was counted as.
    let cause: RemovalCause
  }

  private var names = NameTable()
  private var marks = ChunkedArray<Mark>()
  /// What the victims come to.
  private(set) var totals = IndexTotals()

  var isEmpty: Bool { names.count == 0 }

  func contains(_ name: EntryName) -> Bool { !isEmpty && names.slot(of: name) != nil }

  /// The mark of a name.
  ///
  /// - Complexity: O(1).
  subscript(name: EntryName) -> Mark? {
    guard !isEmpty, let slot = names.slot(of: name) else { return nil }
    return marks[slot]
  }

  /// Adds a victim in the place of one of the same name, whose file is the same or has gone.
  ///
  /// - Complexity: O(1).
  mutating func insert(_ victim: Victim) {
    remove(victim.name)
    // The index had the name, and has no more extensions than fit here.
    guard let slot = names.insert(victim.name) else { return }
    marks.put(
      Mark(
        inode: victim.inode, changeTime: PackedStamp(victim.changeTime),
        byteCount: victim.byteCount, allocatedByteCount: victim.allocatedByteCount,
        cause: victim.cause), at: slot)
    totals.add(byteCount: victim.byteCount, allocatedByteCount: victim.allocatedByteCount)
  }

  /// Notes that we stamped the file of a name ourselves, which is still the one judged.
  mutating func restamp(_ name: EntryName, inode: UInt64, changeTime: Timestamp) {
    guard let slot = names.slot(of: name), marks[slot].inode == inode else { return }
    marks[slot].changeTime = PackedStamp(changeTime)
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

  /// Takes the memory of many victims that are gone, to be given back outside of a lock.
  mutating func takeExcess() -> DoomedFiles? {
    guard isEmpty, marks.count > NameTable.smallCount else { return nil }
    defer { self = DoomedFiles() }
    return self
  }
}
