/// A mark for each slot of an index: those that a scan has met.
///
/// A bit per slot, so that a scan of a million entries begins with 128 KiB of zeros and not with a
/// copy of all names.
struct SlotMarks: Sendable {
  private var words: [UInt64]
  /// The slots that can be marked: those that there were at the beginning.
  private(set) var count: Int

  /// No slots are marked.
  ///
  /// - Complexity: O(n / 64).
  init(count: Int) {
    self.count = count
    words = Array(repeating: 0, count: (count + 63) / 64)
  }

  /// Marks a slot; one that came later needs no mark.
  mutating func mark(_ slot: EntrySlot) {
    let number = Int(slot.number)
    if number < count { words[number / 64] |= 1 << UInt64(number % 64) }
  }

  /// Whether a slot was there at the beginning and has not been marked.
  func lacks(_ number: Int) -> Bool {
    number < count && words[number / 64] & 1 << UInt64(number % 64) == 0
  }
}
