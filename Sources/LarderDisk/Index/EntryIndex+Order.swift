import LarderSystem

// The order of last access. It is here and not in `AccessOrder`, because ties go by name: passing
// the table of names to an order with each use would retain and release every part of the table.
extension EntryIndex {
  /// The slot of the least recently used entry; of several with the same stamp, the first by name.
  /// It is `.none` if there is no entry.
  ///
  /// - Complexity: O(1).
  var leastRecent: EntrySlot {
    let first = order.sorted.first
    guard order.strays.count > 0 else { return first }
    let stray = order.strays[0]
    guard first != .none else { return stray.slot }
    return precedes(stray, StampedSlot(first, order.stamp(of: first))) ? stray.slot : first
  }

  /// Adds a slot to the order as the most recently used one, whatever its stamp says.
  ///
  /// - Complexity: O(1), and O(log n) for a slot with the same stamp as the last one.
  mutating func enterLast(_ slot: EntrySlot, _ stamp: PackedStamp) {
    order.latest = slot
    let last = order.sorted.last
    // A slot with the last one's stamp that goes before it by name cannot follow it in the list.
    if last != .none && stamp == order.stamp(of: last) && !names.precedes(last, slot) {
      return enterAsStray(slot, stamp)
    }
    order.links.append(slot, stamp, to: &order.sorted)
  }

  /// Adds a slot to the order where its stamp says: at the end, or else as a stray.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func enterByStamp(_ slot: EntrySlot, _ stamp: PackedStamp) {
    let last = order.sorted.last
    if last == .none || stamp >= order.stamp(of: last) {
      enterLast(slot, stamp)
    } else {
      enterAsStray(slot, stamp)
      if order.latest == slot { order.latest = .none }
    }
  }

  /// Makes a slot the most recently used one.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func moveLast(_ slot: EntrySlot, _ stamp: PackedStamp) {
    leaveOrder(slot)
    enterLast(slot, stamp)
  }

  /// Takes a slot out of the order.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func leaveOrder(_ slot: EntrySlot) {
    if let position = order.links.strayPosition(of: slot) {
      removeStray(at: position)
    } else {
      order.links.remove(slot, from: &order.sorted)
    }
  }
}

// The entries that go next.
extension EntryIndex {
  /// Takes out the entry that expired first among those that may go; nil if there is none.
  ///
  /// - Complexity: O(k log n), with k − 1 entries before it that may not go.
  mutating func takeExpired(
    at now: Timestamp, where mayGo: (EntryName) -> Bool
  ) -> IndexedEntry? {
    let limit = PackedStamp(now)
    // Taken out and inserted again later, because the heap offers only its first element.
    var spared: [StampedSlot] = []
    defer { for node in spared { expiries.insert(node.slot, node.stamp) } }
    while let first = expiries.first, first.stamp <= limit {
      if mayGo(names.name(of: first.slot)) { return take(first.slot) }
      spared.append(first)
      expiries.remove(first.slot)
    }
    return nil
  }

  /// Takes out the least recently used entry among those that may go, if a condition on its last
  /// access holds; else nil. Of entries of the same last access, the first by name goes.
  ///
  /// - Complexity: O(k log n), with k − 1 entries before it that may not go, or O(k) if they never
  ///   expire and were used here.
  mutating func takeLeastRecent(
    where mayGo: (EntryName) -> Bool, if isDue: (_ lastAccess: Timestamp) -> Bool
  ) -> IndexedEntry? {
    var spared: [Spared] = []
    // The last one first: each comes before all that are left.
    defer { for slot in spared.reversed() { putBack(slot) } }
    while true {
      let slot = leastRecent
      guard slot != .none, isDue(order.stamp(of: slot).timestamp) else { return nil }
      if mayGo(names.name(of: slot)) { return take(slot) }
      spared.append(spare(slot))
    }
  }

  /// Forgets an entry, and returns it.
  private mutating func take(_ slot: EntrySlot) -> IndexedEntry {
    let entry = entry(at: slot)
    remove(slot)
    return entry
  }

  /// A slot that has left the order for the length of a search.
  private struct Spared {
    let slot: EntrySlot
    let stamp: PackedStamp
    let isStray: Bool
  }

  private mutating func spare(_ slot: EntrySlot) -> Spared {
    let isStray = order.links.strayPosition(of: slot) != nil
    defer { leaveOrder(slot) }
    return Spared(slot: slot, stamp: order.stamp(of: slot), isStray: isStray)
  }

  private mutating func putBack(_ spared: Spared) {
    if spared.isStray {
      enterAsStray(spared.slot, spared.stamp)
    } else {
      order.links.insert(spared.slot, spared.stamp, after: .none, in: &order.sorted)
    }
  }
}

// Entries whose files could not be removed.
extension EntryIndex {
  /// Takes an entry out of the order and the heap, so that nothing chooses it to go. It stays known
  /// and counted, until it is stored, used or stamped, or its file is found in another state.
  ///
  /// - Complexity: O(log n).
  mutating func stick(_ name: EntryName) {
    guard stuck[name] == nil, let slot = names.slot(of: name) else { return }
    stuck[name] = expiries.expiry(of: slot)
    stuckTotals.add(
      byteCount: byteCount(at: slot), allocatedByteCount: facts[slot].allocatedByteCount)
    expiries.remove(slot)
    leaveOrder(slot)
    if order.latest == slot { order.latest = .none }
  }

  /// Puts a slot back into the order and the heap if it is stuck. Called before it changes.
  @inline(__always)
  mutating func unstick(_ slot: EntrySlot) {
    if !stuck.isEmpty { unstickNow(slot) }
  }

  private mutating func unstickNow(_ slot: EntrySlot) {
    guard let expiry = stuck.removeValue(forKey: names.name(of: slot)) else { return }
    stuckTotals.subtract(
      byteCount: byteCount(at: slot), allocatedByteCount: facts[slot].allocatedByteCount)
    expiries.insert(slot, expiry)
    enterByStamp(slot, order.stamp(of: slot))
  }

  /// Puts some stuck entries back into the order and the heap, to be tried again.
  ///
  /// - Parameter start: The number of looked-at places; moves on.
  /// - Returns: Whether there may be more.
  mutating func unstickSome(from start: inout Int) -> Bool {
    let end = min(start + 64, stuck.slotCount)
    for name in stuck.names(in: start..<end) {
      if let slot = names.slot(of: name) { unstick(slot) }
    }
    start = end
    return end < stuck.slotCount
  }

  /// The expiry of a slot's entry, which is not in the heap if the entry is stuck.
  func expiry(of slot: EntrySlot) -> PackedStamp {
    stuck.isEmpty
      ? expiries.expiry(of: slot) : stuck[names.name(of: slot)] ?? expiries.expiry(of: slot)
  }
}

// The heap of strays.
extension EntryIndex: SlotHeap {
  var nodes: ChunkedArray<StampedSlot> { order.strays }

  /// Whether a slot goes before another one: the one used earlier; if both are the same, by name.
  func precedes(_ a: StampedSlot, _ b: StampedSlot) -> Bool {
    a.stamp == b.stamp ? names.precedes(a.slot, b.slot) : a.stamp < b.stamp
  }

  mutating func set(_ stray: StampedSlot, at position: Int) {
    order.strays[position] = stray
    order.links.setStrayPosition(of: stray.slot, to: position)
  }

  private mutating func enterAsStray(_ slot: EntrySlot, _ stamp: PackedStamp) {
    let stray = StampedSlot(slot, stamp)
    order.strays.append(stray)
    order.links.putStray(slot, stamp)
    siftUp(stray, from: order.strays.count - 1)
  }

  /// Takes out the stray at a position.
  private mutating func removeStray(at position: Int) {
    let last = order.strays.removeLast()
    if position < order.strays.count { sift(last, from: position) }
  }
}

/// The data of the order of last use. The rules are in the extensions of `EntryIndex` above.
///
/// ```
///  sorted   oldest ⇄ … ⇄ … ⇄ newest     what was used here goes to the end
///  strays   a heap, the oldest on top   what a scan or a neighbour brought out of order
/// ```
///
/// The next to go is the older of the two that come first; if both have the same stamp, the first
/// by name. Nothing is ever sorted all at once. If a scan brings a million entries, or they share a
/// stamp, each choice among them costs O(log n), and no caller pauses.
///
/// A stray's link has no neighbours. It holds the stray's position in the heap instead, so that the
/// heap costs 12 bytes for each stray and none for any other slot.
struct AccessOrder: Sendable {
  var links = SlotLinks()
  var sorted = SlotLinks.Ends()
  /// The slot that last came to the end; `.none` if its entry is gone.
  var latest = EntrySlot.none
  /// Four children a node, as in the heap of the expiries.
  var strays = ChunkedArray<StampedSlot>()

  /// The last access of a slot's entry.
  func stamp(of slot: EntrySlot) -> PackedStamp { links[stampOf: slot] }
}

/// A slot with its stamp, in 12 bytes. With the stamp in a word of 64 bits it would take 16.
struct StampedSlot: Sendable {
  private let word: SplitWord
  let slot: EntrySlot

  init(_ slot: EntrySlot, _ stamp: PackedStamp) {
    self.slot = slot
    word = SplitWord(stamp.bits)
  }

  var stamp: PackedStamp { PackedStamp(bits: word.bits) }
}
