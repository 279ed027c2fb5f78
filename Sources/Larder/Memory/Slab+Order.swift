extension Slab {
  /// Makes an entry the most recently used.
  @inlinable @inline(__always)
  mutating func moveToFront(_ slot: Slot) {
    // The most recently used one again, which repeated reads of one key are.
    guard links[0].next != slot else { return }
    unlink(slot)
    linkAtFront(slot)
  }

  /// Takes an entry out of the ring, whose ends meet.
  @inlinable @inline(__always)
  mutating func unlink(_ slot: Slot) {
    let (previous, next) = (links[slot.index].previous, links[slot.index].next)
    links[previous.index].next = next
    links[next.index].previous = previous
  }

  /// Puts an entry that is not in the ring before the first.
  @inlinable @inline(__always)
  mutating func linkAtFront(_ slot: Slot) {
    let first = links[0].next
    links[slot.index].previous = .none
    links[slot.index].next = first
    links[first.index].previous = slot
    links[0].next = slot
  }
}

extension Slab {
  /// Calls a function with each entry, the most recently used first.
  @inlinable
  func forEach(_ body: (Entry) -> Void) {
    var slot = mostRecent
    while slot != .none {
      body(entries[slot.index])
      slot = next(after: slot)
    }
  }
}
