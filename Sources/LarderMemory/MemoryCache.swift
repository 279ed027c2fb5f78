public import LarderBasics
public import LarderSystem
public import Synchronization

/// Values in memory, the least recently used of which go when a limit is passed.
///
/// The order is exact: reading or storing a value makes it the most recently used, and what is
/// evicted is always the one whose last use is the longest ago. With several
/// ``Configuration/stripes`` this holds within each.
///
/// When room is needed, values leave in this order: those that have expired; then, until the cost
/// fits, the least recently used; then, until the count fits, the least recently used. A value past
/// the age limit counts as expired. The calls that trim begin with the expired ones too. One
/// exception keeps a store at constant cost: after a look through all values for expired ones, the
/// next is made when as many stores have come as an eighth of the values; in between the least
/// recently used goes, even if another has expired.
///
/// Every operation takes one lock, for a few dozen nanoseconds. Keys are hashed before and values
/// released after it, and the listener and a cost function are called outside of it; the clock is
/// read under it, so a clock of your own must not use the cache.
///
/// Two keys are the same when `==` says so. `String` compares by canonical equivalence; where bytes
/// matter, use `CacheKey`, as `Cache` does.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// All of them are there, since an inline array needs no reference to count on each access; those
  /// that are not used stay empty.
  @usableFromInline
  let stripes: InlineArray<16, Mutex<LRU<Key, Value>>>
  /// The number of stripes in use less one.
  @usableFromInline
  let stripeMask: Int
  /// One for all stripes, beside what every read looks at.
  @usableFromInline
  let gate = ForkGate()
  /// The settings it was made with; limits that were changed since are in ``costLimit`` and so on.
  public let configuration: Configuration
  let limits: ForkSafeMutex<MemoryLimits>
  /// The sequences of removals.
  @usableFromInline
  let observers = RemovalObservers<RemovalEvent<Key, Value>> { $0.missedCount = $1 }
  /// The process in which a sweep of expired values is planned, as ``ownSweepPlan``; 0 for none.
  @usableFromInline
  let sweepPlan = Atomic<UInt32>(0)

  /// Creates an empty cache. Traps on a negative limit, on stripes other than 1, 2, 4, 8, 16, and
  /// on an interval between sweeps that is not positive.
  ///
  /// - Complexity: O(stripes).
  public init(_ configuration: Configuration = Configuration()) {
    let count = configuration.stripes
    precondition([1, 2, 4, 8, 16].contains(count), "stripes must be 1, 2, 4, 8 or 16")
    precondition(
      configuration.sweepInterval ?? .seconds(1) > .zero,
      "sweepInterval must be positive; nil sweeps never")
    let limits = configuration.limits
    self.configuration = configuration
    self.limits = ForkSafeMutex(limits)
    stripeMask = count - 1
    let now = PackedTime(configuration.clock.now())
    // Those beyond the count are made too, and never reached: the mask keeps them out.
    stripes = InlineArray { index in
      var lru = LRU<Key, Value>()
      lru.setLimits(limits.share(ofStripe: index % count, of: count), at: now)
      if configuration.recordsUseTimes { lru.keepTimes(from: now) }
      return Mutex(lru)
    }
  }
}

extension MemoryCache: Caching {}
extension MemoryCache: Trimming {}
