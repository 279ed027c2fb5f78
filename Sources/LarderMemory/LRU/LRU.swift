public import LarderBasics

/// The memory tier as a value: its entries, the choice of victims, and the effects of an access.
///
/// It has no lock and no clock and releases nothing: the caller passes the time in, and gets the
/// removed entries out. The order is exactly that of use. When room is needed, entries go in this
/// order: expired ones, then the least recently used until the cost fits, then until the count
/// fits. An entry past the age limit counts as expired.
///
/// - Complexity: O(1) for each operation on one key, amortised where it removes several.
@usableFromInline
struct LRU<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  // The fields that a read writes come first. With the lock before them and the ends of the list
  // after them they fill one cache line, the only one that two threads exchange beside the entries.
  /// Reads that found a value.
  @usableFromInline
  var hits = 0
  /// Reads that found nothing.
  @usableFromInline
  var missesAbsent = 0
  /// The entries.
  @usableFromInline
  var slab = Slab<Key, Value>()
  /// The limits and counters, which stay when all entries are removed.
  @usableFromInline
  var settings: Settings
  /// A lower bound of all expiries.
  @usableFromInline
  var earliestExpiry = PackedTime.never
  /// The next slot of a sweep in slices; 0 while there is no sweep.
  @usableFromInline
  var sweepSlot: UInt32 = 0
  /// The value of `earliestExpiry` after that sweep.
  @usableFromInline
  var sweptExpiry = PackedTime.never
  /// The number of stores since the last pass over all entries for expired ones.
  @usableFromInline
  var storesSinceSweep = 0

  /// Creates an empty LRU.
  @inlinable
  init(_ settings: Settings = Settings()) {
    self.settings = settings
    if settings.keepsTimes { slab.addTimes(at: .zero) }
  }
}

extension LRU {
  /// Sets new limits. `lowerSlice(to:_:at:into:)` removes the entries that do not fit them before.
  @usableFromInline
  mutating func setLimits(_ limits: MemoryLimits, at now: PackedTime) {
    settings.set(limits)
    if settings.ageLimit != nil { keepTimes(from: now) }
  }

  /// Starts to record the times of use. Existing entries count as used at `now`.
  @inlinable
  mutating func keepTimes(from now: PackedTime) {
    guard !settings.keepsTimes else { return }
    slab.addTimes(at: now)
    settings.keepsTimes = true
  }

  /// Whether there is an entry that can expire.
  @inlinable @inline(__always)
  var canExpire: Bool {
    settings.keepsTimes && slab.count > 0 && (earliestExpiry < .never || settings.ageLimit != nil)
  }

  /// Whether an entry is past its expiry or the age limit.
  @inlinable @inline(__always)
  func isExpired(_ slot: Slot, at now: PackedTime) -> Bool {
    guard settings.keepsTimes else { return false }
    if slab.times[slot.index].expiry.hasCome(at: now) { return true }
    guard let ageLimit = settings.ageLimit else { return false }
    return ageLimit.isOver(since: slab.times[slot.index].lastUse, slab.timesStart, at: now)
  }

  /// Limits as plain numbers, which a store compares without unwrapping, and the counters.
  ///
  /// `Int.max` means no cost limit, and the maximum number of slots no count limit.
  @usableFromInline
  struct Settings: Sendable {
    /// The highest cost of all entries together.
    @usableFromInline
    var costLimit = Int.max
    /// The cost that a trim goes down to.
    @usableFromInline
    var costTarget = Int.max
    /// The most entries.
    @usableFromInline
    var countLimit = Slot.maximumCount
    /// The count that a trim goes down to.
    @usableFromInline
    var countTarget = Slot.maximumCount
    /// The longest time that an entry stays without a use.
    @usableFromInline
    var ageLimit: PackedSpan?
    /// Whether times of use are recorded. If so, `now` must be the true time in each call.
    @usableFromInline
    var keepsTimes = false
    /// A lower cost limit while memory is short.
    @usableFromInline
    var costCeiling = Int.max
    /// A lower count limit while memory is short.
    @usableFromInline
    var countCeiling = Int.max
    /// All counters, except for the commonest reads since all entries were last removed.
    @usableFromInline
    var counters = MemoryCounters()

    /// Creates settings without limits and times, with counters at zero.
    @inlinable
    init() {}

    /// Sets new limits, lowered to the ceilings.
    mutating func set(_ limits: MemoryLimits) {
      costLimit = min(limits.cost ?? .max, costCeiling)
      costTarget = limits.target(of: costLimit)
      countLimit = min(limits.count ?? .max, countCeiling, Slot.maximumCount)
      countTarget = limits.target(of: countLimit)
      ageLimit = limits.age.map(PackedSpan.init)
    }
  }
}
