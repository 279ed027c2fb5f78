import LarderBasics
import LarderSystem

// The order of last access, the entries that go next, and those that cannot be removed.
extension EntryIndex {
  /// Adds a slot to the order: at the end, or as a stray if its stamp belongs before the end.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func enter(_ slot: EntrySlot, _ stamp: PackedTime, _ placement: Placement) {
    let node = StampedSlot(slot, stamp)
    table.records[slot].lastAccess = stamp
    select(orderNumber(of: slot))
    let newest = order.newest
    if newest != .none {
      let last = StampedSlot(newest, table.records[newest].lastAccess)
      // A slot with the last one's stamp that goes before it by name cannot follow it in the list.
      if placement == .byLastAccess || stamp == last.stamp, table.precedes(node, last) {
        table.records[slot].next = EntryRecord.stray
        return order.strays.add(node, in: &table)
      }
    }
    table.records[slot].next = .none
    join(newest, slot)
    order.newest = slot
  }

  /// Takes a slot out of the order that it is in.
  ///
  /// - Complexity: O(1), and O(log n) for a stray.
  mutating func leaveOrder(_ slot: EntrySlot, _ number: Int) {
    select(number)
    let record = table.records[slot]
    if let position = record.position(marked: EntryRecord.stray) {
      order.strays.remove(at: position, in: &table)
    } else {
      join(record.previous, record.next)
    }
  }

  /// Makes two slots of the list neighbours. If one of them is `.none`, the other becomes an end.
  private mutating func join(_ previous: EntrySlot, _ next: EntrySlot) {
    if previous == .none { order.oldest = next } else { table.records[previous].next = next }
    if next == .none { order.newest = previous } else { table.records[next].previous = previous }
  }

  /// Selects an order, so that `order` is that one.
  ///
  /// The order in use lies in the index itself, because a look into an array takes a fiftieth of a
  /// read.
  @inline(__always)
  private mutating func select(_ number: Int) {
    guard number != selected else { return }
    let next = exchange(&classes[number], with: UseOrder())
    classes[selected] = exchange(&order, with: next)
    selected = number
  }

  /// Returns the order of a number.
  func order(_ number: Int) -> UseOrder { number == selected ? order : classes[number] }

  /// Returns the number of the order to which a slot belongs by its size and number of uses.
  @inline(__always)
  func orderNumber(of slot: EntrySlot) -> Int {
    guard let measure else { return 0 }
    return UseOrder.number(measure.of(sizes(of: slot)), table.records[slot].lastAccess.useCount)
  }

  /// The name of the entry that was used last among those that are no strays.
  var mostRecentName: EntryName? {
    let ends = classes.indices.map { order($0).newest }.filter { $0 != .none }
    return ends.max { table.records[$0].lastAccess < table.records[$1].lastAccess }
      .map { table.name(of: $0) }
  }

  /// Takes an entry out of the order and the heap, so that nothing chooses it to go. It stays known
  /// and counted, until it is stored, used or stamped, or its file is found in another state.
  ///
  /// - Complexity: O(log n).
  mutating func stick(_ name: EntryName) {
    guard let slot = table.slot(of: name), table.records[slot].next != EntryRecord.stuck
    else { return }
    let node = StampedSlot(slot, expiry(of: slot))
    stuckTotals += sizes(of: slot)
    removeExpiry(of: slot)
    leaveOrder(slot, orderNumber(of: slot))
    table.records[slot].next = EntryRecord.stuck
    stuck.add(node, in: &table)
  }

  /// Puts a slot back into the order and the heap if it is stuck. Called before it changes.
  mutating func unstick(_ slot: EntrySlot) {
    guard stuck.nodes.count > 0,
      let position = table.records[slot].position(marked: EntryRecord.stuck)
    else { return }
    let expiry = stuck.nodes[position].stamp
    stuck.remove(at: position, in: &table)
    stuckTotals -= sizes(of: slot)
    enter(slot, table.records[slot].lastAccess, .byLastAccess)
    setExpiry(expiry.timestamp, of: slot)
  }

  /// Puts some stuck entries back into the order and the heap, to be tried again.
  ///
  /// - Returns: Whether there are more.
  mutating func unstickSome() -> Bool {
    for _ in 0..<64 { if let first = stuck.first { unstick(first.slot) } }
    return stuck.first != nil
  }
}

/// An order of last access: that of all entries of an index, or of those of one class of value.
///
/// A class has the entries of one number of uses and of sizes from a power of two to the next, so
/// that the one used the longest ago is the least valuable. That all of a class count as equally
/// large costs 0.1 points of the hits, on a trace of requests.
struct UseOrder: Sendable {
  /// The ends of the list; `.none` if it is empty.
  var oldest = EntrySlot.none
  var newest = EntrySlot.none
  var strays = SlotHeap()

  /// The number of classes, of lengths below 1 TiB and up to three uses.
  static let classCount = 160

  /// Returns the number of the class of a size and a number of uses.
  static func number(_ byteCount: UInt64, _ useCount: Int) -> Int {
    4 * (63 - (byteCount | 1).leadingZeroBitCount) + useCount
  }

  /// Returns the priority with which an entry of a class goes: age × √size ÷ (1 + uses)², without
  /// the size if only the number of entries matters.
  static func priority(
    _ number: Int, _ stamp: PackedTime, at now: Timestamp, countsSize: Bool
  ) -> Double {
    let age = Double(max(0, now.nanoseconds(since: stamp.timestamp)))
    let size = countsSize ? Double(1 << (number / 4)).squareRoot() : 1
    let uses = Double(1 + number % 4)
    return age * size / (uses * uses)
  }
}

extension PackedTime {
  /// The number of uses of an entry since its name came, at most 3, as a last access has it: stamps
  /// are in microseconds, and the nanoseconds beyond are the number. A larger one is that of a stamp
  /// which another program has set, and counts as 0.
  var useCount: Int {
    let rest = Int(bits & (1 << 30 - 1)) % 1_000
    return rest > 3 ? 0 : rest
  }
}
