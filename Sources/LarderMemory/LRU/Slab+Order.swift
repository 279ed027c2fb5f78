extension Slab {
  /// Makes an entry the most recently used.
  @inlinable @inline(__always)
  mutating func moveToFront(_ slot: Slot) {
    // Repeated reads of one key find it at the front already.
    guard mostRecent != slot else { return }
    unlink(slot)
    linkAtFront(slot)
  }

  /// Takes an entry out of the list.
  @inlinable @inline(__always)
  mutating func unlink(_ slot: Slot) {
    let (previous, next) = (links[slot.index].previous, links[slot.index].next)
    if previous == .none { mostRecent = next } else { links[previous.index].next = next }
    if next == .none { leastRecent = previous } else { links[next.index].previous = previous }
  }

  /// Puts an entry that is not in the list at its front.
  @inlinable @inline(__always)
  mutating func linkAtFront(_ slot: Slot) {
    let first = mostRecent
    links[slot.index].previous = .none
    links[slot.index].next = first
    if first == .none { leastRecent = slot } else { links[first.index].previous = slot }
    mostRecent = slot
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
