/// Doubly linked lists of slots; each slot is in one list at most.
struct SlotLinks: Sendable {
  /// The neighbours of a slot: 8 bytes.
  struct Link: Sendable {
    var previous = EntrySlot.none
    var next = EntrySlot.none
  }

  /// Where a list begins and ends.
  struct Ends: Sendable {
    var first = EntrySlot.none
    var last = EntrySlot.none

    var isEmpty: Bool { first == .none }
  }

  private var links = ChunkedArray<Link>()

  /// The slot after another in its list.
  func next(after slot: EntrySlot) -> EntrySlot { links[slot].next }

  /// The slot before another in its list.
  func previous(before slot: EntrySlot) -> EntrySlot { links[slot].previous }

  /// Links a slot at the end of a list.
  ///
  /// - Complexity: O(1).
  mutating func append(_ slot: EntrySlot, to list: inout Ends) {
    insert(slot, after: list.last, in: &list)
  }

  /// Links a slot after another one of a list, at the front when that is none.
  ///
  /// - Complexity: O(1).
  mutating func insert(_ slot: EntrySlot, after previous: EntrySlot, in list: inout Ends) {
    let next = previous == .none ? list.first : links[previous].next
    links.put(Link(previous: previous, next: next), at: slot)
    join(previous, slot, &list)
    join(slot, next, &list)
  }

  /// Takes a slot out of its list.
  ///
  /// - Complexity: O(1).
  ///
  /// The slot's own link keeps its old neighbours; it is written when the slot is linked again.
  mutating func remove(_ slot: EntrySlot, from list: inout Ends) {
    let link = links[slot]
    join(link.previous, link.next, &list)
  }

  /// Makes two slots neighbours; where one of them is none, the other is an end.
  private mutating func join(_ previous: EntrySlot, _ next: EntrySlot, _ list: inout Ends) {
    if previous == .none {
      list.first = next
    } else {
      links[previous].next = next
    }
    if next == .none {
      list.last = previous
    } else {
      links[next].previous = previous
    }
  }
}
