import LarderBasics

/// The expiries of entries, the earliest first: a heap with four children a node.
///
/// Expiries are kept in the heap alone, so that those compared lie side by side. Four children take
/// 48 bytes. At a million entries, moving a node down misses the processor's caches half as often
/// as with slots in the heap and stamps elsewhere.
///
/// - Complexity: O(1) for what reads, O(log n) for what changes.
struct ExpiryHeap: Sendable {
  /// The slots with their expiries.
  var nodes = ChunkedArray<StampedSlot>()
  /// The position of each slot's node; `nowhere` if its entry never expires.
  private(set) var positions = ChunkedArray<UInt32>()

  static let nowhere = UInt32.max

  /// The slot that expires first, with its expiry; nil if none can expire.
  var first: StampedSlot? { nodes.count > 0 ? nodes[0] : nil }

  /// Returns the expiry of a slot's entry.
  func expiry(of slot: EntrySlot) -> PackedTime {
    let position = positions[slot]
    return position == Self.nowhere ? .never : nodes[Int(position)].stamp
  }

  /// Adds a slot. One that never expires gets no node.
  ///
  /// The position is written in any case, because a reused slot may hold that of its last entry.
  mutating func insert(_ slot: EntrySlot, _ expiry: PackedTime) {
    positions.put(Self.nowhere, at: slot)
    if expiry < .never { add(StampedSlot(slot, expiry)) }
  }

  /// Changes the expiry of a slot.
  mutating func update(_ slot: EntrySlot, _ expiry: PackedTime) {
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
  mutating func remove(_ slot: EntrySlot) {
    let position = positions[slot]
    guard position != Self.nowhere else { return }
    positions[slot] = Self.nowhere
    removeNode(at: Int(position))
  }
}

extension ExpiryHeap: SlotHeap {
  func precedes(_ a: StampedSlot, _ b: StampedSlot) -> Bool { a.stamp < b.stamp }

  mutating func setPosition(of slot: EntrySlot, to position: Int) {
    positions[slot] = UInt32(truncatingIfNeeded: position)
  }
}

/// A heap of slots with four children a node.
protocol SlotHeap {
  var nodes: ChunkedArray<StampedSlot> { get set }
  /// Whether a node goes before another one.
  func precedes(_ a: StampedSlot, _ b: StampedSlot) -> Bool
  mutating func setPosition(of slot: EntrySlot, to position: Int)
}

extension SlotHeap {
  mutating func add(_ node: StampedSlot) {
    nodes.append(node)
    sift(node, from: nodes.count - 1)
  }

  /// Takes out the node at a position. The last one takes its place, and moves up or down from
  /// there.
  mutating func removeNode(at position: Int) {
    let last = nodes.removeLast()
    if position < nodes.count { sift(last, from: position) }
  }

  /// Moves the hole at a position up or down until the node fits, and fills it. Each node on the
  /// way is written once.
  mutating func sift(_ node: StampedSlot, from start: Int) {
    var position = start
    while position > 0, case let parent = nodes[(position - 1) / 4], precedes(node, parent) {
      set(parent, at: position)
      position = (position - 1) / 4
    }
    // A node that has moved up goes before all that are below it.
    while position >= start, let (place, child) = firstChild(of: position), precedes(child, node) {
      set(child, at: position)
      position = place
    }
    set(node, at: position)
  }

  private mutating func set(_ node: StampedSlot, at position: Int) {
    nodes[position] = node
    setPosition(of: node.slot, to: position)
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

/// A slot with its stamp, in 12 bytes. With the stamp in a word of 64 bits it would take 16.
struct StampedSlot: Sendable {
  private let word: SplitWord
  let slot: EntrySlot

  init(_ slot: EntrySlot, _ stamp: PackedTime) {
    self.slot = slot
    word = SplitWord(stamp.bits)
  }

  var stamp: PackedTime { PackedTime(bits: word.bits) }
}
