import LarderBasics
import LarderSystem

// The order of last access.
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
        return enterAsStray(node)
      }
    }
    table.records[slot].next = .none
    join(newest, slot)
    newest = slot
  }

  private mutating func enterAsStray(_ stray: StampedSlot) {
    table.records[stray.slot].next = EntryRecord.stray
    strays.add(stray, in: &table)
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
}

// The entries that go next.
extension EntryIndex {
  /// Takes out the entry that expired first among those that may go; nil if there is none.
  ///
  /// - Complexity: O(k log n), with k − 1 entries before it that may not go.
  mutating func takeExpired(
    at now: Timestamp, where mayGo: (EntryName) -> Bool
  ) -> IndexedEntry? {
    let limit = PackedTime(now)
    // Taken out and inserted again later, because the heap offers only its first element.
    var spared: [StampedSlot] = []
    defer { for node in spared { expiries.add(node, in: &table) } }
    while let first = expiries.first, first.stamp <= limit {
      if mayGo(table.name(of: first.slot)) { return take(first.slot) }
      spared.append(first)
      removeExpiry(of: first.slot)
    }
    return nil
  }

  /// Takes out the least recently used entry among those that may go, if a condition on its last
  /// access holds; else nil. Of entries of the same last access, the first by name goes.
  ///
  /// - Complexity: O(k log n), with k − 1 entries before it that may not go, or O(k) if they never
  ///   expire and were used here.
  mutating func takeLeastRecent(
    where mayGo: (EntryName) -> Bool, if isDue: (_ lastAccess: Timestamp) -> Bool
  ) -> IndexedEntry? {
    var listed = oldest
    // Taken out and inserted again later, as those that have expired.
    var spared: [StampedSlot] = []
    defer { for stray in spared { strays.add(stray, in: &table) } }
    while let first = leastRecent(from: listed), isDue(first.stamp.timestamp) {
      if mayGo(table.name(of: first.slot)) { return take(first.slot) }
      if first.slot == listed {
        listed = table.records[listed].next
      } else {
        spared.append(first)
        strays.remove(at: 0, in: &table)
      }
    }
    return nil
  }

  /// Returns the least recently used slot among the strays and those of the list from one on, with
  /// its stamp; of several with the same stamp, the first by name.
  func leastRecent(from listed: EntrySlot) -> StampedSlot? {
    guard listed != .none else { return strays.first }
    let first = StampedSlot(listed, table.records[listed].lastAccess)
    guard let stray = strays.first, table.precedes(stray, first) else { return first }
    return stray
  }

  /// Forgets an entry, and returns it.
  private mutating func take(_ slot: EntrySlot) -> IndexedEntry {
    let entry = entry(at: slot)
    remove(slot)
    return entry
  }
}

// Entries whose files could not be removed.
extension EntryIndex {
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
    table.records[slot].previous = EntrySlot(stuck.count)
    stuck.append(node)
  }

  /// Puts a slot back into the order and the heap if it is stuck. Called before it changes.
  @inline(__always)
  mutating func unstick(_ slot: EntrySlot) {
    if stuck.count > 0 { unstickNow(slot) }
  }

  private mutating func unstickNow(_ slot: EntrySlot) {
    let record = table.records[slot]
    guard let position = record.position(marked: EntryRecord.stuck) else { return }
    let (node, last) = (stuck[position], stuck.removeLast())
    if last.slot != slot {
      stuck[position] = last
      table.records[last.slot].previous = EntrySlot(position)
    }
    stuckTotals -= sizes(of: slot)
    enter(slot, record.lastAccess, .byLastAccess)
    updateExpiry(of: slot, to: node.stamp)
  }

  /// Puts some stuck entries back into the order and the heap, to be tried again.
  ///
  /// - Returns: Whether there are more.
  mutating func unstickSome() -> Bool {
    for _ in 0..<min(64, stuck.count) { unstick(stuck[stuck.count - 1].slot) }
    return stuck.count > 0
  }
}
