/// An array of words of tag and slot with open addressing, the buckets of a `SlotTable`.
///
/// ```
///  63                       32 31                       0
///  ┌──────────────────────────┬──────────────────────────┐
///  │ tag: half of the hash    │ slot, 0: the bucket is   │
///  │                          │ empty                    │
///  └──────────────────────────┴──────────────────────────┘
/// ```
///
/// An entry's home is the bucket given by the upper bits of its tag, so probing and removing read
/// only this array: no entry is touched before all 32 bits of the tag agree. An entry whose home is
/// taken goes to the next free bucket. Removing one closes the gap, without tombstones. At least
/// one bucket is empty.
@usableFromInline
struct SlotBuckets: ~Copyable {
  /// Tag and slot of each bucket; 0 for an empty one.
  @usableFromInline
  var words: SlotBuffer<UInt64>
  /// The number of buckets less one.
  @usableFromInline
  var mask: Int
  /// The shift that turns a word into its home.
  @usableFromInline
  var shift: UInt64

  /// Creates `1 << bits` empty buckets.
  @inlinable
  init(bits: Int) {
    words = SlotBuffer(zeroedCapacity: 1 << bits)
    mask = 1 << bits - 1
    shift = UInt64(64 - bits)
  }

  /// The number of buckets.
  @inlinable
  var count: Int { mask + 1 }

  /// Returns the content of a bucket.
  @inlinable @inline(__always)
  static func word(_ tag: UInt32, _ slot: Slot) -> UInt64 {
    UInt64(tag) << 32 | UInt64(slot.number)
  }

  /// Returns the bucket where the search for a word begins.
  @inlinable @inline(__always)
  func home(of word: UInt64) -> Int { Int(truncatingIfNeeded: word &>> shift) }
}

extension SlotBuckets {
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

  /// Returns the bucket that a word is in, or nil.
  @inlinable
  func bucket(of target: UInt64) -> Int? {
    var bucket = home(of: target)
    while words[bucket] != target {
      if words[bucket] == 0 { return nil }
      bucket = (bucket &+ 1) & mask
    }
    return bucket
  }

  /// Puts a new word into the first free bucket from its home on.
  @inlinable
  mutating func insert(_ word: UInt64) {
    var bucket = home(of: word)
    while words[bucket] != 0 { bucket = (bucket &+ 1) & mask }
    words[bucket] = word
  }

  /// Takes the word out of a bucket and leaves a gap, so that later words may no longer be found.
  @inlinable @inline(__always)
  mutating func take(_ bucket: Int) -> UInt64 {
    let word = words[bucket]
    if word != 0 { words[bucket] = 0 }
    return word
  }

  /// Empties a bucket, and moves later words back into the gap where they may go.
  @inlinable
  mutating func empty(_ bucket: Int) {
    var hole = bucket
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
}
