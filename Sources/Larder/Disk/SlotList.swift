/// A list through the slots, the least recently used first.
struct SlotList: Sendable {
  private(set) var oldest = IndexSlot.none
  private(set) var newest = IndexSlot.none
  private(set) var count = 0

  /// Adds a slot at the end.
  mutating func append(_ number: UInt32, in slots: inout SlotChunks) {
    slots[number].older = newest
    slots[number].newer = IndexSlot.none
    if newest == IndexSlot.none {
      oldest = number
    } else {
      slots[newest].newer = number
    }
    newest = number
    count += 1
  }

  /// Takes a slot out.
  mutating func remove(_ number: UInt32, in slots: inout SlotChunks) {
    let (older, newer) = (slots[number].older, slots[number].newer)
    if older == IndexSlot.none {
      oldest = newer
    } else {
      slots[older].newer = newer
    }
    if newer == IndexSlot.none {
      newest = older
    } else {
      slots[newer].older = older
    }
    count -= 1
  }

  /// The slots' numbers in order.
  func numbers(in slots: SlotChunks) -> [UInt32] {
    var numbers: [UInt32] = []
    numbers.reserveCapacity(count)
    var number = oldest
    while number != IndexSlot.none {
      numbers.append(number)
      number = slots[number].newer
    }
    return numbers
  }
}
