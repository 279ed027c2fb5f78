extension EntryIndex {
  /// Forgets an entry.
  ///
  /// - Returns: What was known of it, nil when there was none of the name.
  /// - Complexity: O(1), and O(log n) for one that can expire.
  @discardableResult
  package mutating func remove(_ name: EntryName) -> IndexedEntry? {
    guard let slot = names.slot(of: name) else { return nil }
    let entry = entry(at: slot)
    remove(slot)
    return entry
  }

  /// Forgets all entries and gives their memory back.
  package mutating func removeAll() {
    self = EntryIndex()
  }

  /// The order matters: each part is asked while the slot still has its name, which goes last and
  /// takes the slot along.
  mutating func remove(_ slot: EntrySlot) {
    discount(slot)
    expiries.remove(slot)
    leaveOrder(slot)
    names.remove(slot)
  }

  /// Adds an entry's size to the totals.
  mutating func count(_ slot: EntrySlot, _ entry: IndexedEntry) {
    let length = EntryFacts.length(of: entry)
    names.identities[slot].lengthTop = UInt16(truncatingIfNeeded: length >> 32)
    totals.add(byteCount: length, allocatedByteCount: facts[slot].allocatedByteCount)
  }

  /// Takes an entry's size off the totals.
  mutating func discount(_ slot: EntrySlot) {
    totals.subtract(
      byteCount: byteCount(at: slot), allocatedByteCount: facts[slot].allocatedByteCount)
  }
}
