/// The order in which entries were last used.
///
/// ```
///  sorted   oldest ⇄ … ⇄ … ⇄ newest     what was used here goes to the end
///  strays   … ⇄ … ⇄ …                   what a scan or a neighbour brought waits for its place
/// ```
///
/// Two things are put off until a victim is asked for, because most orders are never asked for it:
/// strays are sorted and merged into the list then, in one pass; and entries of the same last
/// access are put in the order of their names when they come to be first.
struct AccessOrder: Sendable {
  var links = SlotLinks()
  var sorted = SlotLinks.Ends()
  var strays = SlotLinks.Ends()
  /// The last of the entries that share the first one's stamp, once they are in the order of their
  /// names; none when that is not known.
  var tiesEnd = EntrySlot.none

  /// The last access of a slot's entry.
  func stamp(of slot: EntrySlot) -> PackedStamp { links[stampOf: slot] }

  /// Adds a slot as the most recently used one, whatever its stamp says.
  ///
  /// - Complexity: O(1).
  mutating func append(_ slot: EntrySlot, _ stamp: PackedStamp) {
    // The new one may share the stamp of the ties and belong among them.
    if sorted.last == tiesEnd { tiesEnd = .none }
    links.append(slot, stamp, to: &sorted)
  }

  /// Makes a slot the most recently used one.
  ///
  /// - Complexity: O(1).
  mutating func moveToEnd(_ slot: EntrySlot, _ stamp: PackedStamp) {
    // What is used twice in a row has its place already.
    if slot == sorted.last && slot != tiesEnd && sorted.first != slot {
      links[stampOf: slot] = stamp
      return
    }
    remove(slot)
    append(slot, stamp)
  }

  /// Adds a slot where its stamp says: at the end, or else as a stray.
  ///
  /// - Complexity: O(1).
  mutating func place(_ slot: EntrySlot, _ stamp: PackedStamp) {
    guard !sorted.isEmpty && stamp < self.stamp(of: sorted.last) else { return append(slot, stamp) }
    links.append(slot, stamp, to: &strays)
  }

  /// Adds a slot as the least recently used one.
  ///
  /// - Complexity: O(1).
  ///
  /// Puts a spared entry back where it was taken from.
  mutating func prepend(_ slot: EntrySlot, _ stamp: PackedStamp) {
    tiesEnd = .none
    links.insert(slot, stamp, after: .none, in: &sorted)
  }

  /// Takes a slot out.
  ///
  /// - Complexity: O(1).
  mutating func remove(_ slot: EntrySlot) {
    if slot == strays.first || slot == strays.last {
      links.remove(slot, from: &strays)
      return
    }
    // The ties' end is lost with the entry itself, and with the one that set it off from the next.
    if slot == tiesEnd || (tiesEnd != .none && links.previous(before: slot) == tiesEnd) {
      tiesEnd = .none
    }
    // A stray from the middle moves no end, so the list it is said to leave does not matter.
    links.remove(slot, from: &sorted)
  }
}
