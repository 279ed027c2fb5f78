/// A doubly linked list of slots with their stamps; a slot that is not in it is in a heap instead.
struct SlotLinks: Sendable {
  /// The stamp of a slot and its neighbours: 16 bytes, since a use changes all three.
  struct Link: Sendable {
    var stamp: PackedStamp
    var previous = EntrySlot.none
    var next = EntrySlot.none
  }

  /// The two ends of a list.
  struct Ends: Sendable {
    var first = EntrySlot.none
    var last = EntrySlot.none

    var isEmpty: Bool { first == .none }
  }

  private var links = ChunkedArray<Link>()

  /// The mark of a stray, in the place of the next slot.
  private static let stray = EntrySlot(number: .max - 1)

  /// Returns the position of a slot in the heap of strays; nil for one that is in the list.
  func strayPosition(of slot: EntrySlot) -> Int? {
    let link = links[slot]
    return link.next == Self.stray ? Int(link.previous.number) : nil
  }

  /// Notes the position of a stray in the heap.
  mutating func setStrayPosition(of slot: EntrySlot, to position: Int) {
    links[slot].previous = EntrySlot(number: UInt32(truncatingIfNeeded: position))
  }

  /// Makes a slot a stray. Its position is still to be set.
  mutating func putStray(_ slot: EntrySlot, _ stamp: PackedStamp) {
    links.put(Link(stamp: stamp, next: Self.stray), at: slot)
  }

  /// Returns the slot after another in its list.
  func next(after slot: EntrySlot) -> EntrySlot { links[slot].next }

  /// Returns the slot before another in its list.
  func previous(before slot: EntrySlot) -> EntrySlot { links[slot].previous }

  /// The stamp of a slot.
  subscript(stampOf slot: EntrySlot) -> PackedStamp {
    get { links[slot].stamp }
    set { links[slot].stamp = newValue }
  }

  /// Links a slot at the end of a list.
  ///
  /// - Complexity: O(1).
  mutating func append(_ slot: EntrySlot, _ stamp: PackedStamp, to list: inout Ends) {
    insert(slot, stamp, after: list.last, in: &list)
  }

  /// Links a slot after another one of a list, or at the front if that is `.none`.
  ///
  /// - Complexity: O(1).
  mutating func insert(
    _ slot: EntrySlot, _ stamp: PackedStamp, after previous: EntrySlot, in list: inout Ends
  ) {
    let next = previous == .none ? list.first : links[previous].next
    links.put(Link(stamp: stamp, previous: previous, next: next), at: slot)
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

  /// Makes two slots neighbours. If one of them is `.none`, the other becomes an end.
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

/// The marks of the slots that a scan has met, a bit for each slot of an index.
///
/// A scan of a million entries begins with 128 KiB of zeros, and not with a copy of all names.
struct SlotMarks: Sendable {
  private var words: [UInt64]
  /// The number of slots that can be marked: those that there were at the beginning.
  private(set) var count: Int

  /// Creates marks of which none is set.
  ///
  /// - Complexity: O(n / 64).
  init(count: Int) {
    self.count = count
    words = Array(repeating: 0, count: (count + 63) / 64)
  }

  /// Marks a slot; one that came later needs no mark.
  mutating func mark(_ slot: EntrySlot) {
    let number = Int(slot.number)
    if number < count { words[number / 64] |= 1 << UInt64(number % 64) }
  }

  /// Whether a slot was there at the beginning and has not been marked.
  func lacks(_ number: Int) -> Bool {
    number < count && words[number / 64] & 1 << UInt64(number % 64) == 0
  }
}
