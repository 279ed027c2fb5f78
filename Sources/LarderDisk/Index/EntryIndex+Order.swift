import LarderBasics
import LarderSystem

// The order of last access. It is here and not in `AccessOrder`, because ties go by name: passing
// the table of names to an order with each use would retain and release every part of the table.
extension EntryIndex {
  /// Adds a slot to the order: at the end, or as a stray if its stamp belongs before the end.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func enter(_ slot: EntrySlot, _ stamp: PackedTime, _ placement: Placement) {
    let last = order.last
    guard last != .none else { return order.append(slot, stamp) }
    let lastStamp = order.stamp(of: last)
    // A slot with the last one's stamp that goes before it by name cannot follow it in the list.
    if placement == .byLastAccess && stamp < lastStamp
      || stamp == lastStamp && names.name(of: last) >= names.name(of: slot)
    {
      enterAsStray(StampedSlot(slot, stamp))
    } else {
      order.append(slot, stamp)
    }
  }

  /// Takes a slot out of the order.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func leaveOrder(_ slot: EntrySlot) {
    if let position = order.strayPosition(of: slot) {
      removeNode(at: position)
    } else {
      order.remove(slot)
    }
  }

  /// The name of the entry that was used last among those that are no strays.
  var mostRecentName: EntryName? { order.last == .none ? nil : names.name(of: order.last) }
}

// The entries that go next.
extension EntryIndex {
  /// Takes out the entry that expired first among those that may go; nil if there is none.
  ///
  /// - Complexity: O(k log n), with k − 1 entries before it that may not go.
  mutating func takeExpired(
    at now: Timestamp, where mayGo: (EntryName) -> Bool
  ) -> IndexedEntry? {
    let limit = PackedTime(now)
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
    var listed = order.first
    // Taken out and inserted again later, as those that have expired.
    var spared: [StampedSlot] = []
    defer { for stray in spared { enterAsStray(stray) } }
    while true {
      let slot = leastRecent(from: listed)
      guard slot != .none, isDue(order.stamp(of: slot).timestamp) else { return nil }
      if mayGo(names.name(of: slot)) { return take(slot) }
      if slot == listed {
        listed = order.next(after: slot)
      } else {
        spared.append(order.strays[0])
        removeNode(at: 0)
      }
    }
  }

  /// Returns the least recently used slot among the strays and those of the list from one on; of
  /// several with the same stamp, the first by name. It is `.none` if there is none.
  func leastRecent(from listed: EntrySlot) -> EntrySlot {
    guard order.strays.count > 0 else { return listed }
    let stray = order.strays[0]
    guard listed != .none else { return stray.slot }
    return precedes(stray, StampedSlot(listed, order.stamp(of: listed))) ? stray.slot : listed
  }

  /// Forgets an entry, and returns it.
  private mutating func take(_ slot: EntrySlot) -> IndexedEntry {
    let entry = entry(at: slot)
    remove(slot)
    return entry
  }
}

// Entries whose files could not be removed.
extension EntryIndex {
  /// Takes an entry out of the order and the heap, so that nothing chooses it to go. It stays known
  /// and counted, until it is stored, used or stamped, or its file is found in another state.
  ///
  /// - Complexity: O(log n).
  mutating func stick(_ name: EntryName) {
    guard let slot = names.slot(of: name), order.stuckPosition(of: slot) == nil else { return }
    let node = StampedSlot(slot, expiries.expiry(of: slot))
    stuckTotals += sizes(of: slot)
    expiries.remove(slot)
    leaveOrder(slot)
    order.putStuck(slot, at: stuck.count)
    stuck.append(node)
  }

  /// Puts a slot back into the order and the heap if it is stuck. Called before it changes.
  @inline(__always)
  mutating func unstick(_ slot: EntrySlot) {
    if stuck.count > 0 { unstickNow(slot) }
  }

  private mutating func unstickNow(_ slot: EntrySlot) {
    guard let position = order.stuckPosition(of: slot) else { return }
    let (node, last) = (stuck[position], stuck.removeLast())
    if last.slot != slot {
      stuck[position] = last
      order.setPosition(of: last.slot, to: position)
    }
    stuckTotals -= sizes(of: slot)
    expiries.insert(slot, node.stamp)
    enter(slot, order.stamp(of: slot), .byLastAccess)
  }

  /// Puts some stuck entries back into the order and the heap, to be tried again.
  ///
  /// - Returns: Whether there are more.
  mutating func unstickSome() -> Bool {
    for _ in 0..<min(64, stuck.count) { unstick(stuck[stuck.count - 1].slot) }
    return stuck.count > 0
  }

  /// The expiry of a slot's entry, which is not in the heap if the entry is stuck.
  func expiry(of slot: EntrySlot) -> PackedTime {
    let position = stuck.count > 0 ? order.stuckPosition(of: slot) : nil
    return position.map { stuck[$0].stamp } ?? expiries.expiry(of: slot)
  }
}

// The heap of strays.
extension EntryIndex: SlotHeap {
  var nodes: ChunkedArray<StampedSlot> {
    get { order.strays }
    _modify { yield &order.strays }
  }

  /// Whether a slot goes before another one: the one used earlier; if both are the same, by name.
  func precedes(_ a: StampedSlot, _ b: StampedSlot) -> Bool {
    a.stamp == b.stamp ? names.name(of: a.slot) < names.name(of: b.slot) : a.stamp < b.stamp
  }

  mutating func setPosition(of stray: EntrySlot, to position: Int) {
    order.setPosition(of: stray, to: position)
  }

  private mutating func enterAsStray(_ stray: StampedSlot) {
    order.putStray(stray)
    add(stray)
  }
}

/// The data of the order of last use. The rules are in the extensions of `EntryIndex` above.
///
/// ```
///  list     oldest ⇄ … ⇄ … ⇄ newest     what was used here goes to the end
///  strays   a heap, the oldest on top   what a scan or a neighbour brought out of order
/// ```
///
/// The next to go is the older of the two that come first; if both have the same stamp, the first
/// by name. Nothing is ever sorted all at once. If a scan brings a million entries, or they share a
/// stamp, each choice among them costs O(log n), and no caller pauses.
///
/// The link of a stray, and that of a stuck entry, has no neighbours. It holds the position in the
/// heap or among the stuck instead, so that both cost 12 bytes for each of theirs and none for any
/// other slot.
struct AccessOrder: Sendable {
  /// The stamp of a slot and its neighbours: 16 bytes, since a use changes all three.
  struct Link: Sendable {
    var stamp: PackedTime
    var previous = EntrySlot.none
    var next = EntrySlot.none
  }

  private(set) var links = ChunkedArray<Link>()
  /// The ends of the list; `.none` if it is empty.
  private(set) var first = EntrySlot.none
  private(set) var last = EntrySlot.none
  /// Four children a node, as in the heap of the expiries.
  var strays = ChunkedArray<StampedSlot>()

  // The marks of a stray and of a stuck entry, in the place of the next slot.
  private static let stray = EntrySlot(number: .max - 1)
  private static let stuck = EntrySlot(number: .max - 2)

  /// The last access of a slot's entry.
  func stamp(of slot: EntrySlot) -> PackedTime { links[slot].stamp }

  /// Returns the slot after another in the list; `.none` after the last.
  func next(after slot: EntrySlot) -> EntrySlot { links[slot].next }

  /// Returns the position of a slot in the heap of strays; nil for one that is in the list.
  func strayPosition(of slot: EntrySlot) -> Int? {
    let link = links[slot]
    return link.next == Self.stray ? link.previous.index : nil
  }

  /// Returns the position of a slot among the stuck entries; nil for any other.
  func stuckPosition(of slot: EntrySlot) -> Int? {
    let link = links[slot]
    return link.next == Self.stuck ? link.previous.index : nil
  }

  mutating func setPosition(of slot: EntrySlot, to position: Int) {
    links[slot].previous = EntrySlot(position)
  }

  /// Makes a slot a stuck one, with its stamp.
  mutating func putStuck(_ slot: EntrySlot, at position: Int) {
    (links[slot].previous, links[slot].next) = (EntrySlot(position), Self.stuck)
  }

  /// Makes a slot a stray. Its position is still to be set.
  mutating func putStray(_ stray: StampedSlot) {
    links.put(Link(stamp: stray.stamp, next: Self.stray), at: stray.slot)
  }

  /// Links a slot after the last one of the list.
  mutating func append(_ slot: EntrySlot, _ stamp: PackedTime) {
    links.put(Link(stamp: stamp, previous: last), at: slot)
    join(last, slot)
    last = slot
  }

  /// Takes a slot out of the list.
  ///
  /// The slot's own link keeps its old neighbours; it is written when the slot is linked again.
  mutating func remove(_ slot: EntrySlot) {
    let link = links[slot]
    join(link.previous, link.next)
  }

  /// Makes two slots neighbours. If one of them is `.none`, the other becomes an end.
  private mutating func join(_ previous: EntrySlot, _ next: EntrySlot) {
    if previous == .none { first = next } else { links[previous].next = next }
    if next == .none { last = previous } else { links[next].previous = previous }
  }
}
