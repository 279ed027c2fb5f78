/// The memory tier as a value: what is kept, what has to go, and what an access means.
///
/// It has no lock and no clock and releases nothing: whoever holds it passes the time in, and gets
/// out what was removed. The order is that of use, exactly. When room is needed, entries go in this
/// order: expired ones, then the least recently used until the cost fits, then until the count
/// fits; past the age limit an entry counts as expired.
///
/// - Complexity: O(1) for each operation on one key, amortised where it removes several.
@usableFromInline
struct LRU<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  // What a read writes comes first: with the lock before it and the ends of the list behind, it is
  // in one cache line, which is all that two threads hand to each other beside the entries.
  /// Reads that found a value.
  @usableFromInline
  var hits = 0
  /// Reads that found nothing.
  @usableFromInline
  var missesAbsent = 0
  /// The entries.
  @usableFromInline
  var slab = Slab<Key, Value>()
  /// What outlives the entries when all of them are removed.
  @usableFromInline
  var settings: Settings
  /// No entry expires before this point.
  @usableFromInline
  var earliestExpiry = PackedTime.never
  /// The slot that a sweep in slices looks at next; 0 while none is going on.
  @usableFromInline
  var sweepSlot: UInt32 = 0
  /// What `earliestExpiry` will be when that sweep is over.
  @usableFromInline
  var sweptExpiry = PackedTime.never
  /// Stores since all entries were last looked through for expired ones.
  @usableFromInline
  var storesSinceSweep = 0

  /// Creates an empty one.
  @inlinable
  init(_ settings: Settings = Settings()) {
    self.settings = settings
    if settings.keepsTimes { slab.addTimes(at: .zero) }
  }
}

extension LRU {
  /// Takes new limits; what no longer fits goes at the next `enforceLimits(at:into:)`.
  @usableFromInline
  mutating func setLimits(_ limits: MemoryLimits, at now: PackedTime) {
    settings.costLimit = min(limits.cost ?? .max, settings.costCeiling)
    settings.costTarget = limits.target(of: settings.costLimit)
    settings.countLimit = min(limits.count ?? .max, settings.countCeiling, Slot.maximumCount)
    settings.countTarget = limits.target(of: settings.countLimit)
    settings.ageLimit = limits.age.map(PackedSpan.init)
    if settings.ageLimit != nil { keepTimes(from: now) }
  }

  /// Begins to record the times of use; entries that are there count as used at `now`.
  @inlinable
  mutating func keepTimes(from now: PackedTime) {
    guard !settings.keepsTimes else { return }
    slab.addTimes(at: now)
    settings.keepsTimes = true
  }

  /// Whether there is an entry that time alone can make leave.
  @inlinable @inline(__always)
  var canExpire: Bool {
    settings.keepsTimes && slab.count > 0 && (earliestExpiry < .never || settings.ageLimit != nil)
  }

  /// Whether an entry is past its expiry or the age limit.
  @inlinable @inline(__always)
  func isExpired(_ slot: Slot, at now: PackedTime) -> Bool {
    guard settings.keepsTimes else { return false }
    if slab.times[slot.index].expiry <= now { return true }
    guard let ageLimit = settings.ageLimit, let cutoff = now.subtracting(ageLimit) else {
      return false
    }
    return slab.times[slot.index].lastUse <= cutoff
  }
}
