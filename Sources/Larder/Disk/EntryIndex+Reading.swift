extension EntryIndex {
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
