import LarderBasics
import LarderSystem

/// The index of all known entries: by name, in the order of last access, and by expiry.
///
/// It is a pure value, with no lock, clock or file. An engine keeps it under its one lock. A copy
/// is a snapshot, which can be read outside of the lock.
///
/// ```
///  names     digest 16, chain 4, extension 3, top of the length 1,  bucket 4
///  order     previous 4, next 4, last access 8;   last access 8 and slot 4 of strays
///  expiries  position 4,            expiry 8 and slot 4 of those that expire
///  facts     inode 8, change time 8, key tag 8, length 4, blocks and flag 4, lifetime 4
/// ```
///
/// An entry takes 96 bytes, or 84 if it never expires. Its parts lie in arrays of chunks, under its
/// slot. Entries that a scan meets out of the order of use take 12 bytes more, for as many as there
/// were at once. Fields that one operation uses are adjacent. Fields that are walked alone
/// (expiries, links) have arrays of their own.
///
/// Stamps count from 1970 to 2514, lengths and allocated bytes to 1 TiB. A value beyond counts as
/// the nearest of these.
///
/// - Complexity: O(1), if nothing else is said. No operation takes time in proportion to the number
///   of entries, not even when a part grows or the first entry is chosen to go, except
///   `emptyMarks()`.
package struct EntryIndex: Sendable {
  var names = NameTable()
  var order = AccessOrder()
  var expiries = ExpiryHeap()
  var facts = ChunkedArray<EntryFacts>()
  package internal(set) var totals = IndexTotals()
  /// The entries that are in no order and no heap, because their files could not be removed, with
  /// their expiries; see `stick(_:)`.
  var stuck = ChunkedArray<StampedSlot>()
  /// The sizes of those entries, which `totals` includes.
  var stuckTotals = IndexTotals()

  /// Creates an index without entries.
  package init() {}

  /// Returns the entry of a name.
  package func entry(named name: EntryName) -> IndexedEntry? {
    names.slot(of: name).map { entry(at: $0) }
  }

  /// Whether there is an entry of a name.
  package func contains(_ name: EntryName) -> Bool { names.slot(of: name) != nil }

  /// Returns the slot of an entry.
  package func slot(of name: EntryName) -> EntrySlot? { names.slot(of: name) }

  /// Puts a slot's entry together from the parts.
  func entry(at slot: EntrySlot) -> IndexedEntry {
    let facts = facts[slot]
    return IndexedEntry(
      name: names.name(of: slot), byteCount: byteCount(at: slot),
      allocatedByteCount: facts.allocatedByteCount,
      lastAccess: order.stamp(of: slot).timestamp, expiry: expiry(of: slot).timestamp,
      inode: facts.inode, changeTime: facts.changeTime.timestamp, proof: facts.proof)
  }

  /// Returns the length, from the 8 bits with the name and the 32 with the facts.
  func byteCount(at slot: EntrySlot) -> UInt64 {
    UInt64(names.identities[slot].lengthTop) << 32 | UInt64(facts[slot].lengthBottom)
  }

  /// Returns the totals of one entry.
  func sizes(of slot: EntrySlot) -> IndexTotals {
    IndexTotals(
      byteCount: byteCount(at: slot), allocatedByteCount: facts[slot].allocatedByteCount)
  }
}

// The entries that a scan has not met.
extension EntryIndex {
  /// Returns a mark for every slot that there is now, with none set.
  ///
  /// - Complexity: O(n), for a byte each that is set to zero.
  func emptyMarks() -> [Bool] { Array(repeating: false, count: names.slotCount) }

  /// Returns the names of entries in a range of slots that existed when the marks were made and
  /// have none.
  ///
  /// - Complexity: O(slots).
  func names(in slots: Range<Int>, lacking marks: [Bool]) -> [EntryName] {
    names.names(in: slots.clamped(to: marks.indices)) { !marks[$0.index] }
  }
}
