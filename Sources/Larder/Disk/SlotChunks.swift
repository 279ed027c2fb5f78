/// The index's slots, by number, in chunks that never move.
struct SlotChunks: Sendable {
  // 1,024 slots of 80 bytes: at most 80 KiB lie idle.
  private static let shift: UInt32 = 10
  private static let mask: UInt32 = 1 << shift - 1

  private var chunks: [[IndexSlot]] = []
  private var firstFree = IndexSlot.none
  private var used: UInt32 = 0

  subscript(number: UInt32) -> IndexSlot {
    get { chunks[Int(number >> Self.shift)][Int(number & Self.mask)] }
    _modify { yield &chunks[Int(number >> Self.shift)][Int(number & Self.mask)] }
  }

  /// Puts a slot in a free place and returns its number.
  mutating func add(_ slot: IndexSlot) -> UInt32 {
    if firstFree != IndexSlot.none {
      let number = firstFree
      firstFree = self[number].newer
      self[number] = slot
      return number
    }
    precondition(used < IndexSlot.none, "an index holds fewer than 2³² − 1 entries")
    if used & Self.mask == 0 {
      var chunk: [IndexSlot] = []
      chunk.reserveCapacity(Int(Self.mask) + 1)
      chunks.append(chunk)
    }
    chunks[chunks.count - 1].append(slot)
    defer { used += 1 }
    return used
  }

  /// Gives a slot's place back.
  mutating func free(_ number: UInt32) {
    self[number].newer = firstFree
    firstFree = number
  }
}
