extension EntryIndex {
  /// No marks, for every slot that there is now.
  func emptyMarks() -> SlotMarks { SlotMarks(count: names.identities.count) }

  /// The slot of an entry.
  ///
  /// - Complexity: O(1).
  func slot(of name: EntryName) -> EntrySlot? { names.slot(of: name) }

  /// The entries in a range of slots that were there when the marks were made and have none.
  ///
  /// - Complexity: O(slots).
  func names(in slots: Range<Int>, lacking marks: SlotMarks) -> [EntryName] {
    slots.clamped(to: 0..<names.identities.count).filter(marks.lacks).compactMap { number in
      let slot = EntrySlot(number: UInt32(truncatingIfNeeded: number))
      return names.isUsed(slot) ? names.name(of: slot) : nil
    }
  }

  /// The entry that goes last, of those in the order of their use.
  ///
  /// - Complexity: O(1).
  var mostRecentName: EntryName? {
    order.sorted.isEmpty ? nil : names.name(of: order.sorted.last)
  }

  /// All entries, the least recently used first; those used at the same time by name.
  ///
  /// The sequence is a snapshot: what happens to the index afterwards does not change it, and costs
  /// a copy of each chunk it happens to as long as the sequence is there.
  ///
  /// - Complexity: O(1), and O(log n) for each entry that a scan or a neighbour brought.
  func entriesInOrder() -> EntriesInOrder { EntriesInOrder(rest: self) }

  /// The entries of an index in the order of last access.
  struct EntriesInOrder: Sequence, IteratorProtocol {
    /// The entries that are still to come, in an order of their own.
    fileprivate var rest: EntryIndex

    var underestimatedCount: Int { rest.count }

    mutating func next() -> IndexedEntry? {
      let slot = rest.leastRecent
      guard slot != .none else { return nil }
      rest.leaveOrder(slot)
      return rest.entry(at: slot)
    }
  }
}
