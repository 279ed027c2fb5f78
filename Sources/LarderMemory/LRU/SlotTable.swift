/// The map from a key's hash to its slot. It grows and shrinks in steps, so that no operation waits
/// until a million words have moved.
///
/// When the number of buckets changes, the words of the old ones move in migration steps:
///
/// 1. A new slot goes to the new buckets. A search looks into them first, so a migration costs a
///    hit there nothing, and into the old ones if it finds nothing.
/// 2. Nothing is added to the old buckets, and a step ends behind an empty one. So each run of
///    taken buckets has moved as a whole or not at all, and what is left can be searched and
///    removed as before. A run that goes on from the last bucket to the first is two: its end moves
///    first, which no search for its beginning needs.
/// 3. Each insertion moves `stepCount` buckets, and a run of taken ones to its end. Of *b* buckets
///    at most 3*b*/4 are taken, and twice as many have room for 3*b*/4 more. The migration is over
///    after *b*/16 insertions, so long before the table grows again.
@usableFromInline
struct SlotTable: ~Copyable {
  /// The buckets that new slots go to. At most three quarters of them are taken.
  @usableFromInline
  var buckets: SlotBuckets
  /// The buckets before the last change of their number; nil when all their words have moved.
  @usableFromInline
  var old: SlotBuckets?
  /// The number of old buckets less one.
  @usableFromInline
  var oldMask = 0
  /// The number of old buckets that are left to move; they are the last ones.
  @usableFromInline
  var oldCount = 0

  /// The least number of old buckets that an insertion moves.
  @inlinable
  static var stepCount: Int { 16 }

  /// Creates an empty table with `1 << bits` buckets.
  @inlinable
  init(bits: Int) {
    buckets = SlotBuckets(bits: bits)
    old = nil
  }

  /// The most entries before the table must grow.
  @inlinable
  var capacity: Int { buckets.count / 4 * 3 }

  /// Returns the fewest bits for a table that holds a number of entries.
  @inlinable
  static func bits(forCount count: Int) -> Int {
    var bits = 2
    while 1 << bits / 4 * 3 < count { bits += 1 }
    return bits
  }
}

extension SlotTable {
  /// Returns the first slot with a tag that satisfies a condition, or none.
  ///
  /// - Complexity: O(1) expected.
  @inlinable @inline(__always)
  func first(_ tag: UInt32, where isMatch: (Slot) -> Bool) -> Slot {
    let slot = buckets.first(tag, where: isMatch)
    // Inlined as well, because a call needs a copy of the whole slab for the closure.
    if slot == .none, oldCount > 0 { return old?.first(tag, where: isMatch) ?? .none }
    return slot
  }

  /// Adds a new slot.
  ///
  /// - Complexity: O(1) expected.
  @inlinable
  mutating func insert(_ tag: UInt32, _ slot: Slot) {
    if oldCount > 0 { migrate(Self.stepCount) }
    buckets.insert(SlotBuckets.word(tag, slot))
  }

  /// Removes a slot.
  ///
  /// - Complexity: O(1) expected.
  @inlinable
  mutating func remove(_ tag: UInt32, _ slot: Slot) {
    let word = SlotBuckets.word(tag, slot)
    if let bucket = buckets.bucket(of: word) { return buckets.empty(bucket) }
    if let bucket = old?.bucket(of: word) { old?.empty(bucket) }
  }

  /// Puts a slot in the place of another one with the same tag.
  ///
  /// - Complexity: O(1) expected.
  mutating func replace(_ tag: UInt32, _ slot: Slot, with other: Slot) {
    let (word, next) = (SlotBuckets.word(tag, slot), SlotBuckets.word(tag, other))
    if let bucket = buckets.bucket(of: word) {
      buckets.words[bucket] = next
    } else if let bucket = old?.bucket(of: word) {
      old?.words[bucket] = next
    }
  }

  /// Doubles the number of buckets. Their words move with the insertions that follow.
  ///
  /// - Complexity: O(1), see `SlotBuffer.init(zeroedCapacity:)`.
  @inlinable
  mutating func grow() { resize(bits: Int(64 - buckets.shift) + 1) }

  /// Whether words move to fewer buckets.
  @inlinable
  var isShrinking: Bool { oldCount > 0 && oldMask > buckets.mask }

  /// Changes the number of buckets to `1 << bits`, which must have room for all slots.
  @inlinable
  mutating func resize(bits: Int) {
    // Nothing is left after a growth, by rule 3. After a shrink something may be, if other threads
    // store more between its slices than it moves.
    assert(oldCount == 0 || isShrinking, "the migration is too slow")
    migrate(oldCount)
    var other = SlotBuckets(bits: bits)
    swap(&buckets, &other)
    (oldMask, oldCount) = (other.mask, other.count)
    old = consume other
  }

  /// Moves the words of a number of old buckets, and then those up to the next empty one.
  ///
  /// - Complexity: O(`count`) expected. Frees the old buckets with the last one.
  @inlinable @inline(never)
  mutating func migrate(_ count: Int) {
    var count = count
    while oldCount > 0 {
      let bucket = oldMask + 1 - oldCount
      let word = old?.take(bucket) ?? 0
      oldCount -= 1
      count -= 1
      if word != 0 { buckets.insert(word) } else if count <= 0 { break }
    }
    if oldCount == 0 { old = nil }
  }
}
