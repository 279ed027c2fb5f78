extension EntryIndex {
  /// No marks, for every slot that there is now.
  func emptyMarks() -> SlotMarks { SlotMarks(count: names.identities.count) }

  /// Marks an entry's slot.
  ///
  /// - Complexity: O(1).
  func mark(_ name: EntryName, in marks: inout SlotMarks) {
    if let slot = names.slot(of: name) { marks.mark(slot) }
  }

  /// The entries in a range of slots that were there when the marks were made and have none.
  ///
  /// - Complexity: O(slots).
  func names(in slots: Range<Int>, lacking marks: SlotMarks) -> [EntryName] {
    slots.clamped(to: 0..<names.identities.count).filter(marks.lacks).compactMap { number in
      let slot = EntrySlot(number: UInt32(truncatingIfNeeded: number))
      return names.isUsed(slot) ? names.name(of: slot) : nil
    }
  }

  /// The entry that goes last, as far as that is known without sorting.
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
  /// - Complexity: O(1), and O(n + s log s) when s entries wait for their place in the order.
  mutating func entriesInOrder() -> EntriesInOrder {
    if !order.strays.isEmpty { order.settleStrays() }
    return EntriesInOrder(index: self)
  }

  /// The entries of an index in the order of last access.
  struct EntriesInOrder: Sequence, IteratorProtocol {
    private let index: EntryIndex
    private var upcoming: EntrySlot
    // Of those that share a stamp the last by name comes first here.
    private var ties: [EntrySlot] = []

    fileprivate init(index: EntryIndex) {
      self.index = index
      upcoming = index.order.sorted.first
    }

    var underestimatedCount: Int { index.count }

    mutating func next() -> IndexedEntry? {
      if ties.isEmpty && upcoming != .none {
        let found = index.order.ties(from: upcoming)
        upcoming = index.order.links.next(after: found[found.count - 1])
        ties = index.names.inOrder(found).reversed()
      }
      return ties.popLast().map(index.entry(at:))
    }
  }
}
