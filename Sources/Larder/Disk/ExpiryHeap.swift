/// When entries expire, and which one does so first: a heap with four children a node.
///
/// Four rather than two, because the children of a node are compared in memory that is not at hand:
/// the four loads go on at the same time, and the heap is half as deep.
struct ExpiryHeap: Sendable {
  private(set) var expiries = ChunkedArray<PackedStamp>()
  /// Where a slot is in the heap; `nowhere` when its entry never expires.
  private(set) var positions = ChunkedArray<UInt32>()
  private(set) var heap = ChunkedArray<EntrySlot>()

  static let nowhere = UInt32.max

  /// The slot that expires first, nil when none can.
  ///
  /// - Complexity: O(1).
  var first: EntrySlot? { heap.count > 0 ? heap[0] : nil }

  /// The expiry of a slot's entry.
  func expiry(of slot: EntrySlot) -> PackedStamp { expiries[slot] }

  /// Adds a slot; one that never expires is not put in the heap.
  ///
  /// - Complexity: O(log n).
  mutating func insert(_ slot: EntrySlot, _ expiry: PackedStamp) {
    expiries.put(expiry, at: slot)
    positions.put(Self.nowhere, at: slot)
    guard expiry < .never else { return }
    heap.append(slot)
    siftUp(slot, from: heap.count - 1)
  }

  /// Changes the expiry of a slot.
  ///
  /// - Complexity: O(log n).
  mutating func update(_ slot: EntrySlot, _ expiry: PackedStamp) {
    let old = expiries[slot]
    guard expiry != old else { return }
    guard old < .never && expiry < .never else {
      remove(slot)
      return insert(slot, expiry)
    }
    expiries[slot] = expiry
    let position = Int(positions[slot])
    if expiry < old {
      siftUp(slot, from: position)
    } else {
      siftDown(slot, from: position)
    }
  }

  /// Takes a slot out.
  ///
  /// - Complexity: O(log n).
  mutating func remove(_ slot: EntrySlot) {
    guard positions[slot] != Self.nowhere else { return }
    let position = Int(positions[slot])
    positions[slot] = Self.nowhere
    let last = heap.removeLast()
    guard last != slot else { return }
    if expiries[last] < expiries[slot] {
      siftUp(last, from: position)
    } else {
      siftDown(last, from: position)
    }
  }
}

extension ExpiryHeap {
  private mutating func set(_ slot: EntrySlot, at position: Int) {
    heap[position] = slot
    positions[slot] = UInt32(truncatingIfNeeded: position)
  }

  /// Puts a slot at a position, or as far above it as its expiry says.
  private mutating func siftUp(_ slot: EntrySlot, from start: Int) {
    let expiry = expiries[slot]
    var position = start
    while position > 0 {
      let parent = heap[(position - 1) / 4]
      guard expiry < expiries[parent] else { break }
      set(parent, at: position)
      position = (position - 1) / 4
    }
    set(slot, at: position)
  }

  /// Puts a slot at a position, or as far below it as its expiry says.
  private mutating func siftDown(_ slot: EntrySlot, from start: Int) {
    let expiry = expiries[slot]
    var position = start
    while let child = earliestChild(of: position), expiries[heap[child]] < expiry {
      set(heap[child], at: position)
      position = child
    }
    set(slot, at: position)
  }

  private func earliestChild(of position: Int) -> Int? {
    let first = 4 * position + 1
    guard first < heap.count else { return nil }
    var earliest = first
    var expiry = expiries[heap[first]]
    for child in first + 1..<max(first + 1, min(first + 4, heap.count)) {
      let other = expiries[heap[child]]
      if other < expiry { (earliest, expiry) = (child, other) }
    }
    return earliest
  }
}
