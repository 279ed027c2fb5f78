extension EntryIndex {
  /// Walks the whole structure and traps where its parts disagree; does nothing in release builds.
  ///
  /// - Complexity: O(n).
  func checkInvariants() {
    #if DEBUG
      let numbers = order.checkedNumbers(in: slots) + strays.checkedNumbers(in: slots)
      precondition(numbers.count == count && Set(numbers).count == count, "a slot is in two lists")
      precondition(numbers.map { slots[$0].byteCount }.reduce(0, +) == byteCount, "total of bytes")
      precondition(
        numbers.map { slots[$0].allocatedByteCount }.reduce(0, +) == allocatedByteCount,
        "total of allocated bytes")
      for number in order.numbers(in: slots) {
        precondition(!slots[number].isStray, "an entry in the order is marked as a stray")
      }
      for number in strays.numbers(in: slots) {
        precondition(slots[number].isStray, "a stray is not marked")
      }
      for number in numbers {
        precondition(find(name(at: number)) == number, "the table leads elsewhere")
      }
      let finite = numbers.filter { slots[$0].canExpire }
      precondition(expiries.checkedNumbers(in: slots) == Set(finite), "the heap misses an entry")
    #endif
  }
}

extension SlotList {
  /// The slots in order, after a look at the links in both directions.
  fileprivate func checkedNumbers(in slots: SlotChunks) -> [UInt32] {
    let numbers = numbers(in: slots)
    precondition(numbers.count == count, "a list's count is wrong")
    precondition(newest == (numbers.last ?? IndexSlot.none), "a list's end is wrong")
    var older = IndexSlot.none
    for number in numbers {
      precondition(slots[number].older == older, "a link back is wrong")
      older = number
    }
    return numbers
  }
}

extension ExpiryHeap {
  /// The slots, after a look at their places and that no parent expires after its child.
  fileprivate func checkedNumbers(in slots: SlotChunks) -> Set<UInt32> {
    for (position, number) in numbers.enumerated() {
      precondition(slots[number].heapPosition == UInt32(position), "a place in the heap is wrong")
      guard position > 0 else { continue }
      let parent = numbers[(position - 1) / 4]
      precondition(slots[parent].expiry <= slots[number].expiry, "the heap is out of order")
    }
    return Set(numbers)
  }
}
