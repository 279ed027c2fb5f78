/// The map from a key's hash to its slot: open addressing over words of tag and slot.
///
/// ```
///  63                       32 31                       0
///  ┌──────────────────────────┬──────────────────────────┐
///  │ tag: half of the hash    │ slot, 0: the bucket is   │
///  │                          │ empty                    │
///  └──────────────────────────┴──────────────────────────┘
/// ```
///
/// An entry's home is the bucket given by the upper bits of its tag, so probing, removing and
/// growing read only this array: no entry is touched before all 32 bits of the tag agree. An entry
/// whose home is taken goes to the next free bucket. Removing one closes the gap, without
/// tombstones. At most three quarters of the buckets are taken.
@usableFromInline
struct SlotTable: ~Copyable {
  /// Tag and slot of each bucket; 0 for an empty one.
  @usableFromInline
  var words: SlotBuffer<UInt64>
  /// The number of buckets less one.
  @usableFromInline
  var mask: Int
  /// The shift that turns a word into its home.
  @usableFromInline
  var shift: UInt64

  /// Creates an empty table with `1 << bits` buckets.
  @inlinable
  init(bits: Int) {
    words = SlotBuffer(repeating: 0, count: 1 << bits)
    mask = 1 << bits - 1
    shift = UInt64(64 - bits)
  }

  /// The most entries before the table must grow.
  @inlinable
  var capacity: Int { (mask + 1) / 4 * 3 }

  /// Returns the fewest bits for a table that holds a number of entries.
  @inlinable
  static func bits(forCount count: Int) -> Int {
    var bits = 2
    while 1 << bits / 4 * 3 < count { bits += 1 }
    return bits
  }

  /// Returns the content of a bucket.
  @inlinable @inline(__always)
  static func word(_ tag: UInt32, _ slot: Slot) -> UInt64 {
    UInt64(tag) << 32 | UInt64(slot.number)
  }

  /// Returns the bucket where the search for a word begins.
  @inlinable @inline(__always)
  func home(of word: UInt64) -> Int { Int(truncatingIfNeeded: word &>> shift) }
}

extension SlotTable {
  /// Returns the first slot with a tag that satisfies a condition, or none.
  ///
  /// - Complexity: O(1) expected.
  @inlinable @inline(__always)
  func first(_ tag: UInt32, where isMatch: (Slot) -> Bool) -> Slot {
    var bucket = home(of: UInt64(tag) << 32)
    while true {
      let word = words[bucket]
      if word == 0 { return .none }
      if UInt32(truncatingIfNeeded: word &>> 32) == tag {
        let slot = Slot(UInt32(truncatingIfNeeded: word))
        if isMatch(slot) { return slot }
      }
      bucket = (bucket &+ 1) & mask
    }
  }

  /// Puts a new slot into the first free bucket from its home on.
  @inlinable
  mutating func insert(_ tag: UInt32, _ slot: Slot) {
    let word = Self.word(tag, slot)
    var bucket = home(of: word)
    while words[bucket] != 0 { bucket = (bucket &+ 1) & mask }
    words[bucket] = word
  }

  /// Removes a slot, and moves later slots back into the gap where they may go.
  @inlinable
  mutating func remove(_ tag: UInt32, _ slot: Slot) {
    let target = Self.word(tag, slot)
    var hole = home(of: target)
    while words[hole] != target { hole = (hole &+ 1) & mask }
    var bucket = (hole &+ 1) & mask
    while words[bucket] != 0 {
      let word = words[bucket]
      // This word may move into the hole if its home is not between the two.
      if (bucket &- home(of: word)) & mask >= (bucket &- hole) & mask {
        words[hole] = word
        hole = bucket
      }
      bucket = (bucket &+ 1) & mask
    }
    words[hole] = 0
  }

  /// Doubles the number of buckets.
  ///
  /// - Complexity: O(*n*); reads the words from end to end and no entry.
  @inlinable
  mutating func grow() {
    var larger = SlotTable(bits: Int(64 - shift) + 1)
    for bucket in 0...mask {
      let word = words[bucket]
      if word != 0 {
        larger.insert(
          UInt32(truncatingIfNeeded: word &>> 32), Slot(UInt32(truncatingIfNeeded: word)))
      }
    }
    swap(&self, &larger)
  }
}
