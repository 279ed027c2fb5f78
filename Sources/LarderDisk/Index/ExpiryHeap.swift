/// The expiries of entries, the earliest first: a heap with four children a node.
///
/// Expiries are kept in the heap alone, so that those compared lie side by side. Four children take
/// 48 bytes. At a million entries, moving a node down misses the processor's caches half as often
/// as with slots in the heap and stamps elsewhere.
struct ExpiryHeap: Sendable {
  /// The slots with their expiries.
  private(set) var nodes = ChunkedArray<StampedSlot>()
  /// The position of each slot's node; `nowhere` if its entry never expires.
  private(set) var positions = ChunkedArray<UInt32>()

  static let nowhere = UInt32.max

  /// The slot that expires first, with its expiry; nil if none can expire.
  ///
  /// - Complexity: O(1).
  var first: StampedSlot? { nodes.count > 0 ? nodes[0] : nil }

  /// Returns the expiry of a slot's entry.
  ///
  /// - Complexity: O(1).
  func expiry(of slot: EntrySlot) -> PackedStamp {
    let position = positions[slot]
    return position == Self.nowhere ? .never : nodes[Int(position)].stamp
  }

  /// Adds a slot. One that never expires gets no node.
  ///
  /// - Complexity: O(log n).
  ///
  /// The position is written in any case, because a reused slot may hold that of its last entry.
  mutating func insert(_ slot: EntrySlot, _ expiry: PackedStamp) {
    positions.put(Self.nowhere, at: slot)
    guard expiry < .never else { return }
    let node = StampedSlot(slot, expiry)
    nodes.append(node)
    siftUp(node, from: nodes.count - 1)
  }

  /// Changes the expiry of a slot.
  ///
  /// - Complexity: O(log n).
  mutating func update(_ slot: EntrySlot, _ expiry: PackedStamp) {
    let position = positions[slot]
    guard position != Self.nowhere && expiry < .never else {
      remove(slot)
      return insert(slot, expiry)
    }
    if expiry != nodes[Int(position)].stamp {
      sift(StampedSlot(slot, expiry), from: Int(position))
    }
  }

  /// Takes a slot out.
  ///
  /// - Complexity: O(log n).
  ///
  /// The last node takes its place, and moves up or down from there.
  mutating func remove(_ slot: EntrySlot) {
    let position = positions[slot]
    guard position != Self.nowhere else { return }
    positions[slot] = Self.nowhere
    let last = nodes.removeLast()
    if last.slot != slot { sift(last, from: Int(position)) }
  }
}

extension ExpiryHeap: SlotHeap {
  func precedes(_ a: StampedSlot, _ b: StampedSlot) -> Bool { a.stamp < b.stamp }

  mutating func set(_ node: StampedSlot, at position: Int) {
    nodes[position] = node
    positions[node.slot] = UInt32(truncatingIfNeeded: position)
  }
}

/// A heap of slots with four children a node. To remove a node, its owner takes out the last one
/// and sifts it from the position of the node.
protocol SlotHeap {
  var nodes: ChunkedArray<StampedSlot> { get }
  /// Whether a node goes before another one.
  func precedes(_ a: StampedSlot, _ b: StampedSlot) -> Bool
  /// Writes a node at a position, and notes the position for its slot.
  mutating func set(_ node: StampedSlot, at position: Int)
}

extension SlotHeap {
  /// Moves the hole at a position up or down until the node fits, and fills it.
  mutating func sift(_ node: StampedSlot, from position: Int) {
    if position > 0 && precedes(node, nodes[(position - 1) / 4]) {
      siftUp(node, from: position)
    } else {
      siftDown(node, from: position)
    }
  }

  /// Moves the hole at a position up until the node fits, and fills it. Each node on the way is
  /// written once.
  mutating func siftUp(_ node: StampedSlot, from start: Int) {
    var position = start
    while position > 0 {
      let parent = nodes[(position - 1) / 4]
      guard precedes(node, parent) else { break }
      set(parent, at: position)
      position = (position - 1) / 4
    }
    set(node, at: position)
  }

  /// Moves the hole at a position down until the node fits, and fills it.
  private mutating func siftDown(_ node: StampedSlot, from start: Int) {
    var position = start
    while let (place, child) = firstChild(of: position), precedes(child, node) {
      set(child, at: position)
      position = place
    }
    set(node, at: position)
  }

  /// Returns the child that goes first. The children lie side by side, from four times the position
  /// and one on.
  private func firstChild(of position: Int) -> (position: Int, node: StampedSlot)? {
    let start = 4 * position + 1
    guard start < nodes.count else { return nil }
    var first = (position: start, node: nodes[start])
    var other = start + 1
    while other < min(start + 4, nodes.count) {
      let node = nodes[other]
      if precedes(node, first.node) { first = (other, node) }
      other += 1
    }
    return first
  }
}
