/// Finds slots by name: open addressing with linear probing over slot numbers.
///
/// The names in a directory can be chosen by anyone who can write there, so the place of a name
/// depends on a seed that differs by index.
struct NameTable: Sendable {
  private var buckets: [UInt32] = []
  private var count = 0
  private let seed: (UInt64, UInt64) = (.random(in: .min ... .max), .random(in: .min ... .max) | 1)

  private var mask: Int { buckets.count - 1 }

  private func home(_ digest: MD5Digest, _ extensionNumber: UInt16) -> Int {
    var hash = (digest.high ^ seed.0) &* seed.1
    hash ^= hash >> 32
    hash = (hash ^ digest.low ^ UInt64(extensionNumber)) &* seed.1
    hash ^= hash >> 29
    return Int(truncatingIfNeeded: hash) & mask
  }

  private func home(of number: UInt32, in slots: SlotChunks) -> Int {
    home(slots[number].digest, slots[number].extensionNumber)
  }

  /// The slot of a name.
  func find(_ digest: MD5Digest, _ extensionNumber: UInt16, in slots: SlotChunks) -> UInt32? {
    guard !buckets.isEmpty else { return nil }
    var bucket = home(digest, extensionNumber)
    while buckets[bucket] != IndexSlot.none {
      let number = buckets[bucket]
      if slots[number].digest == digest && slots[number].extensionNumber == extensionNumber {
        return number
      }
      bucket = (bucket + 1) & mask
    }
    return nil
  }

  /// Adds a slot whose name is not in the table.
  mutating func insert(_ number: UInt32, in slots: SlotChunks) {
    if (count + 1) * 4 > buckets.count * 3 { grow(slots) }
    place(number, slots)
    count += 1
  }

  private mutating func place(_ number: UInt32, _ slots: SlotChunks) {
    var bucket = home(of: number, in: slots)
    while buckets[bucket] != IndexSlot.none { bucket = (bucket + 1) & mask }
    buckets[bucket] = number
  }

  private mutating func grow(_ slots: SlotChunks) {
    let old = buckets
    buckets = Array(repeating: IndexSlot.none, count: max(16, old.count * 2))
    for number in old where number != IndexSlot.none { place(number, slots) }
  }

  /// Removes a slot, and closes the gap so that no probe ends too early.
  mutating func remove(_ number: UInt32, in slots: SlotChunks) {
    var gap = home(of: number, in: slots)
    while buckets[gap] != number { gap = (gap + 1) & mask }
    var bucket = (gap + 1) & mask
    while buckets[bucket] != IndexSlot.none {
      let distance = (bucket - home(of: buckets[bucket], in: slots)) & mask
      if distance >= (bucket - gap) & mask {
        buckets[gap] = buckets[bucket]
        gap = bucket
      }
      bucket = (bucket + 1) & mask
    }
    buckets[gap] = IndexSlot.none
    count -= 1
  }
}
