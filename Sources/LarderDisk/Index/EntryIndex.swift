import LarderBasics
import LarderSystem

/// The index of all known entries: by name, in the order of last access, and by expiry.
///
/// It is a pure value, with no lock, clock or file. An engine keeps it under its one lock. A copy
/// is a snapshot, which can be read outside of the lock.
///
/// ```
///  table     digest 16, chain 4, extension 3, top of the length 1, bucket 4
///            record 56: see EntryRecord
///  strays    last access 8 and slot 4 of those out of order
///  expiries  expiry 8 and slot 4 of those that expire
/// ```
///
/// An entry takes 96 bytes, or 84 if it never expires. Its parts lie in arrays of chunks, under its
/// slot. Entries that a scan meets out of the order of use take 12 bytes more, for as many as there
/// were at once.
///
/// The order of last access:
///
/// ```
///  list     oldest ⇄ … ⇄ … ⇄ newest     what was used here goes to the end
///  strays   a heap, the oldest on top   what a scan or a neighbour brought out of order
/// ```
///
/// The next to go is the older of the two that come first; if both have the same stamp, the first
/// by name. Nothing is ever sorted all at once. If a scan brings a million entries, or they share a
/// stamp, each choice among them costs O(log n), and no caller pauses.
///
/// Stamps count from 1970 to 2514, lengths and allocated bytes to 1 TiB. A value beyond counts as
/// the nearest of these.
///
/// - Complexity: O(1), if nothing else is said. No operation takes time in proportion to the number
///   of entries, not even when a part grows or the first entry is chosen to go, except
///   `emptyMarks()`.
package struct EntryIndex: Sendable {
  var table = EntryTable()
  /// The ends of the list; `.none` if it is empty.
  var oldest = EntrySlot.none
  var newest = EntrySlot.none
  var strays = SlotHeap()
  var expiries = SlotHeap(placesExpiries: true)
  /// The entries of which nothing chooses one to go, because their files could not be removed, with
  /// their expiries; see `stick(_:)`.
  var stuck = SlotHeap()
  package internal(set) var totals = IndexTotals()
  /// The sizes of the stuck entries, which `totals` includes.
  var stuckTotals = IndexTotals()

  /// Creates an index without entries.
  package init() {}

  /// Returns the entry of a name.
  package func entry(named name: EntryName) -> IndexedEntry? {
    table.slot(of: name).map { entry(at: $0) }
  }

  /// Whether there is an entry of a name.
  package func contains(_ name: EntryName) -> Bool { table.slot(of: name) != nil }

  /// Returns the slot of an entry.
  package func slot(of name: EntryName) -> EntrySlot? { table.slot(of: name) }

  /// Puts a slot's entry together from the parts.
  func entry(at slot: EntrySlot) -> IndexedEntry {
    let record = table.records[slot]
    return IndexedEntry(
      name: table.name(of: slot), byteCount: byteCount(at: slot),
      allocatedByteCount: record.facts.allocatedByteCount,
      lastAccess: record.lastAccess.timestamp, expiry: expiry(of: slot).timestamp,
      inode: record.facts.inode, changeTime: record.facts.changeTime.timestamp,
      proof: record.facts.proof)
  }

  /// Returns the length, from the 8 bits with the name and the 32 with the facts.
  func byteCount(at slot: EntrySlot) -> UInt64 {
    UInt64(table.identities[slot].lengthTop) << 32 | UInt64(table.records[slot].facts.lengthBottom)
  }

  /// Returns the totals of one entry.
  func sizes(of slot: EntrySlot) -> IndexTotals {
    IndexTotals(
      byteCount: byteCount(at: slot),
      allocatedByteCount: table.records[slot].facts.allocatedByteCount)
  }

  /// Returns a mark for every slot that there is now, with none set.
  ///
  /// - Complexity: O(n), for a byte each that is set to zero.
  func emptyMarks() -> [Bool] { Array(repeating: false, count: table.slotCount) }

  /// Returns the names of entries in a range of slots that existed when the marks were made and
  /// have none.
  ///
  /// - Complexity: O(slots).
  func names(in slots: Range<Int>, lacking marks: [Bool]) -> [EntryName] {
    table.names(in: slots.clamped(to: marks.indices)) { !marks[$0.index] }
  }
}
