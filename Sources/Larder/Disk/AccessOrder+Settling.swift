extension AccessOrder {
  /// The least recently used entry, the first by name of several that share its stamp.
  ///
  /// - Complexity: O(1) when the strays and the ties have been settled; see `settleStrays()`.
  mutating func first(by names: NameTable) -> EntrySlot {
    if !strays.isEmpty { settleStrays() }
    if tiesEnd == .none { settleTies(by: names) }
    return sorted.first
  }

  /// Gives the strays their places: behind all that were used at the same time or before.
  ///
  /// The list is walked from its end and only as far as the oldest stray, so that what a neighbour
  /// has stored a moment ago costs little. Where a clock was set back and the list is not in the
  /// order of the stamps, the place is behind the last that is not later.
  ///
  /// - Complexity: O(n + s log s) for s strays among n entries.
  mutating func settleStrays() {
    var waiting = takeStrays()
    // The sort is stable in Swift only by accident, and need not be: equal stamps are put in the
    // order of their names when they come to be first.
    waiting.sort { $0.stamp < $1.stamp }
    var place = sorted.last
    // From the latest to the oldest, so that the place only ever moves towards the front.
    for stray in waiting.reversed() {
      while place != .none && stray.stamp < stamp(of: place) {
        place = links.previous(before: place)
      }
      links.insert(stray.slot, stray.stamp, after: place, in: &sorted)
    }
    tiesEnd = .none
  }

  /// Empties the list of strays and returns them with their stamps, in the order in which they
  /// came.
  private mutating func takeStrays() -> [(stamp: PackedStamp, slot: EntrySlot)] {
    var waiting: [(stamp: PackedStamp, slot: EntrySlot)] = []
    var slot = strays.first
    while slot != .none {
      waiting.append((stamp(of: slot), slot))
      slot = links.next(after: slot)
    }
    // The links of the strays are left as they are: each is written anew when its slot is inserted.
    strays = SlotLinks.Ends()
    return waiting
  }

  /// Puts the first entries, as far as they share a stamp, in the order of their names.
  ///
  /// - Complexity: O(k) for k entries that are in order, else O(k log k).
  private mutating func settleTies(by names: NameTable) {
    tiesEnd = sorted.first
    guard !sorted.isEmpty, hasTie(sorted.first) else { return }
    let (ties, stamp) = (ties(from: sorted.first), stamp(of: sorted.first))
    tiesEnd = ties[ties.count - 1]
    // What one scan stored within one second on a filesystem with whole seconds is in order from
    // the last time; looking is cheaper than sorting again.
    guard !names.areInOrder(ties) else { return }
    for slot in ties { links.remove(slot, from: &sorted) }
    var place = EntrySlot.none
    for slot in names.inOrder(ties) {
      links.insert(slot, stamp, after: place, in: &sorted)
      place = slot
    }
    tiesEnd = place
  }

  /// Whether the next slot shares its stamp: one comparison, which spares an array where stamps
  /// differ.
  private func hasTie(_ slot: EntrySlot) -> Bool {
    let next = links.next(after: slot)
    return next != .none && stamp(of: next) == stamp(of: slot)
  }

  /// The slots from one on that share its stamp.
  func ties(from first: EntrySlot) -> [EntrySlot] {
    var ties = [first]
    var slot = links.next(after: first)
    while slot != .none && stamp(of: slot) == stamp(of: first) {
      ties.append(slot)
      slot = links.next(after: slot)
    }
    return ties
  }
}
