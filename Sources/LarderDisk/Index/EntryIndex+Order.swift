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
  /// The order in use lies in the index itself: a look into an array takes a fiftieth of a read.
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

// The entries that go next, by the order of last access and of expiry.
extension EntryIndex {
  /// Takes out the entry that expired first among those that may go; nil if there is none.
  ///
  /// - Complexity: O(log n + k²), with k − 1 entries before it that may not go.
  mutating func takeExpired(at now: Timestamp, where mayGo: (EntryName) -> Bool) -> IndexedEntry? {
    let limit = PackedTime(now)
    let first = expiries.first(in: table) { $0.stamp > limit || mayGo(table.name(of: $0.slot)) }
    guard let first, first.stamp <= limit else { return nil }
    return take(first.slot)
  }

  /// Takes out the first entry that may go and for whose last access a condition holds, if any.
  ///
  /// The first is that of the highest priority; of the same, the least recently used one; of the
  /// same last access, the first by name. In each class of value entries go by last access, and
  /// once the condition does not hold, none of the class goes.
  ///
  /// - Parameter priority: Returns that of a class and a last access, the same for all by default.
  /// - Complexity: O(log n + k²), with k − 1 entries before it that may not go.
  mutating func takeFirst(
    where mayGo: (EntryName) -> Bool, if isDue: (_ lastAccess: Timestamp) -> Bool,
    by priority: (_ number: Int, PackedTime) -> Double = { _, _ in 0 }
  ) -> IndexedEntry? {
    var first: (node: StampedSlot, priority: Double)?
    func precedes(_ node: StampedSlot, _ priority: Double) -> Bool {
      guard let first else { return true }
      return priority > first.priority
        || priority == first.priority && table.precedes(node, first.node)
    }
    for number in classes.indices {
      // Most are empty, or the first of them, although it might not go, comes after another's.
      let order = order(number)
      guard let head = head(of: order), precedes(head, priority(number, head.stamp)),
        let node = self.first(in: order, where: mayGo, if: isDue)
      else { continue }
      let priority = priority(number, node.stamp)
      if precedes(node, priority) { first = (node, priority) }
    }
    return first.map { take($0.node.slot) }
  }

  /// Returns the least recently used one in an order.
  private func head(of order: UseOrder) -> StampedSlot? {
    let stray = order.strays.first
    guard order.oldest != .none else { return stray }
    let listed = StampedSlot(order.oldest, table.records[order.oldest].lastAccess)
    return stray.map { table.precedes($0, listed) ? $0 : listed } ?? listed
  }

  /// Returns the least recently used one in an order that may go, if the condition holds.
  private func first(
    in order: UseOrder, where mayGo: (EntryName) -> Bool,
    if isDue: (_ lastAccess: Timestamp) -> Bool
  ) -> StampedSlot? {
    func isNext(_ node: StampedSlot) -> Bool {
      !isDue(node.stamp.timestamp) || mayGo(table.name(of: node.slot))
    }
    var first = order.strays.first(in: table, where: isNext)
    var listed = order.oldest
    while listed != .none {
      let node = StampedSlot(listed, table.records[listed].lastAccess)
      // Looked at here, because the stamps of the list are in no order where a clock went back.
      if let first, table.precedes(first, node) { break }
      if isNext(node) {
        first = node
        break
      }
      listed = table.records[listed].next
    }
    guard let first, isDue(first.stamp.timestamp) else { return nil }
    return first
  }

  /// Forgets an entry, and returns it.
  private mutating func take(_ slot: EntrySlot) -> IndexedEntry {
    let entry = entry(at: slot)
    remove(slot)
    return entry
  }

  /// Takes out all entries that a plan demands.
  ///
  /// - Complexity: O(k log n) for k victims.
  package mutating func take(_ plan: TrimPlan, byValue: Bool = true) -> [Victim] {
    var (run, victims) = (EvictionRun(plan), [Victim]())
    run.isByValue = byValue
    while let victim = run.takeNext(from: &self) {
      run.add(.removed, of: victim)
      victims.append(victim)
    }
    return victims
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
  /// are in microseconds, and the nanoseconds beyond are the number. A larger one is of a stamp
  /// that another program has set, and counts as 0.
  var useCount: Int {
    let rest = Int(bits & (1 << 30 - 1)) % 1_000
    return rest > 3 ? 0 : rest
  }
}
