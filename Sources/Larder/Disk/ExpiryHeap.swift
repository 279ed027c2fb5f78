/// The slots that can expire, the earliest first: a heap with four children a node.
struct ExpiryHeap: Sendable {
  private(set) var numbers: [UInt32] = []

  var count: Int { numbers.count }

  /// The slot that expires first.
  var first: UInt32? { numbers.first }

  /// Adds a slot.
  ///
  /// - Complexity: O(log n).
  mutating func insert(_ number: UInt32, in slots: inout SlotChunks) {
    numbers.append(number)
    slots[number].heapPosition = UInt32(numbers.count - 1)
    siftUp(numbers.count - 1, in: &slots)
  }

  /// Takes a slot out.
  ///
  /// - Complexity: O(log n).
  mutating func remove(_ number: UInt32, in slots: inout SlotChunks) {
    let position = Int(slots[number].heapPosition)
    slots[number].heapPosition = IndexSlot.none
    let last = numbers.removeLast()
    guard position < numbers.count else { return }
    set(last, at: position, in: &slots)
    siftUp(position, in: &slots)
    siftDown(Int(slots[last].heapPosition), in: &slots)
  }

  private mutating func set(_ number: UInt32, at position: Int, in slots: inout SlotChunks) {
    numbers[position] = number
    slots[number].heapPosition = UInt32(position)
  }

  private mutating func siftUp(_ start: Int, in slots: inout SlotChunks) {
    var position = start
    let number = numbers[start]
    while position > 0 {
      let parent = (position - 1) / 4
      guard slots[number].expiry < slots[numbers[parent]].expiry else { break }
      set(numbers[parent], at: position, in: &slots)
      position = parent
    }
    set(number, at: position, in: &slots)
  }

  private mutating func siftDown(_ start: Int, in slots: inout SlotChunks) {
    var position = start
    let number = numbers[start]
    while let child = earliestChild(of: position, in: slots),
      slots[numbers[child]].expiry < slots[number].expiry
    {
      set(numbers[child], at: position, in: &slots)
      position = child
    }
    set(number, at: position, in: &slots)
  }

  private func earliestChild(of position: Int, in slots: SlotChunks) -> Int? {
    let children = (4 * position + 1)..<min(4 * position + 5, max(numbers.count, 4 * position + 1))
    return children.min { slots[numbers[$0]].expiry < slots[numbers[$1]].expiry }
  }
}
