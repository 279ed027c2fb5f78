import LarderBasics
import LarderSystem

// The order of last access, the entries that go next, and those that cannot be removed.
extension EntryIndex {
  /// Adds a slot to the order: at the end, or as a stray if its stamp belongs before the end.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func enter(_ slot: EntrySlot, _ stamp: PackedTime, _ placement: Placement) {
    let node = StampedSlot(slot, stamp)
    table.records[slot].lastAccess = stamp
    if newest != .none {
      let last = StampedSlot(newest, table.records[newest].lastAccess)
      // A slot with the last one's stamp that goes before it by name cannot follow it in the list.
      if placement == .byLastAccess || stamp == last.stamp, table.precedes(node, last) {
        table.records[slot].next = EntryRecord.stray
        return strays.add(node, in: &table)
      }
    }
    table.records[slot].next = .none
    join(newest, slot)
    newest = slot
  }

  /// Takes a slot out of the order.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func leaveOrder(_ slot: EntrySlot) {
    let record = table.records[slot]
    if let position = record.position(marked: EntryRecord.stray) {
      strays.remove(at: position, in: &table)
    } else {
      join(record.previous, record.next)
    }
  }

  /// Makes two slots of the list neighbours. If one of them is `.none`, the other becomes an end.
  private mutating func join(_ previous: EntrySlot, _ next: EntrySlot) {
    if previous == .none { oldest = next } else { table.records[previous].next = next }
    if next == .none { newest = previous } else { table.records[next].previous = previous }
  }

  /// The name of the entry that was used last among those that are no strays.
  var mostRecentName: EntryName? { newest == .none ? nil : table.name(of: newest) }

  /// Takes an entry out of the order and the heap, so that nothing chooses it to go. It stays known
  /// and counted, until it is stored, used or stamped, or its file is found in another state.
  ///
  /// - Complexity: O(log n).
  mutating func stick(_ name: EntryName) {
    guard let slot = table.slot(of: name), table.records[slot].next != EntryRecord.stuck
    else { return }
    let node = StampedSlot(slot, expiry(of: slot))
    stuckTotals += sizes(of: slot)
    removeExpiry(of: slot)
    leaveOrder(slot)
    table.records[slot].next = EntryRecord.stuck
    stuck.add(node, in: &table)
  }

  /// Puts a slot back into the order and the heap if it is stuck. Called before it changes.
  mutating func unstick(_ slot: EntrySlot) {
    guard stuck.nodes.count > 0,
      let position = table.records[slot].position(marked: EntryRecord.stuck)
    else { return }
    let expiry = stuck.nodes[position].stamp
    stuck.remove(at: position, in: &table)
    stuckTotals -= sizes(of: slot)
    enter(slot, table.records[slot].lastAccess, .byLastAccess)
    setExpiry(expiry.timestamp, of: slot)
  }

  /// Puts some stuck entries back into the order and the heap, to be tried again.
  ///
  /// - Returns: Whether there are more.
  mutating func unstickSome() -> Bool {
    for _ in 0..<64 { if let first = stuck.first { unstick(first.slot) } }
    return stuck.first != nil
  }
}
