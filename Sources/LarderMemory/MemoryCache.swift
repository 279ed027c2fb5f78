public import LarderBasics
public import LarderSystem
public import Synchronization

/// A cache in memory that evicts the least recently used values when a limit is exceeded.
///
/// The order is exact: reading or storing a value makes it the most recently used, and the evicted
/// value is always the one whose last use is the longest ago. With several
/// ``Configuration/stripes`` this holds within each.
///
/// If room is needed, values leave in this order: expired ones; then, until the cost fits, the
/// least recently used; then, until the count fits, the least recently used. A value past the age
/// limit counts as expired. The trim functions also begin with the expired values. There is one
/// exception, which keeps the cost of a store constant: after a pass over all values for expired
/// ones, the next pass waits until as many stores have come as an eighth of the values. In between,
/// the least recently used value goes, even if another one has expired.
///
/// Every operation on one key takes one lock, for a few dozen nanoseconds. Trims, sweeps and
/// lowered limits take it for at most 256 values at a time; if less than an eighth of the memory is
/// in use afterwards, the rest is moved to less memory in steps as short. No store waits until a
/// million values have moved to more memory, unless they have weak references in them: the memory
/// itself moves. Keys are hashed before the lock is taken, and values are released after it. The
/// listener, a cost function and the clock are called outside of it, so they may use the cache.
///
/// Two keys are the same if `==` says so. `String` compares by canonical equivalence; if bytes
/// matter, use `CacheKey`, as `Cache` does.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The stripes. All 16 exist, because an inline array needs no reference count on each access;
  /// the unused ones stay empty.
  @usableFromInline
  let stripes: InlineArray<16, ForkSafeMutex<LRU<Key, Value>>>
  /// The number of stripes in use less one.
  @usableFromInline
  let stripeMask: Int
  /// Whether any stripe may keep times. Set before the first value with a time is stored, so that
  /// the clock is read before a stripe's lock is taken, and only if it is needed.
  @usableFromInline
  let keepsTimes = Atomic<Bool>(false)
  /// Whether the clock is the caller's.
  @usableFromInline
  let hasOwnClock: Bool
  /// The settings that the cache was made with; ``costLimit`` and so on have what changed since.
  public let configuration: Configuration
  let limits: ForkSafeMutex<MemoryLimits>
  /// The sequences of removals.
  @usableFromInline
  package let observers = RemovalObservers<RemovalEvent<Key, Value>> { $0.missedCount = $1 }
  /// The number of forks before this process, if the cache is of no use in a forked child.
  private let forkCount: UInt32?
  /// Whether a thread that this process lacks may hold the locks for ever. Totals do not wait then.
  @usableFromInline
  var isForked: Bool { forkCount.map { $0 != ProcessIdentity.forkCount } ?? false }
  /// The process in which a sweep of expired values is planned, as ``ownSweepPlan``; 0 for none.
  @usableFromInline
  let sweepPlan = Atomic<UInt32>(0)
  /// The threads that sweep and release values, whose deinitialisers may wait for anything.
  let threads = IOExecutor(threadLimit: 2)

  /// Creates an empty cache. Traps on a negative limit, on stripes other than 1, 2, 4, 8, 16, and
  /// on an interval between sweeps that is not positive.
  ///
  /// - Complexity: O(stripes).
  public convenience init(_ configuration: Configuration = Configuration()) {
    self.init(configuration, isOfOneProcess: false)
  }

  /// Creates the memory tier of a cache that cannot be used in a forked child.
  package init(_ configuration: Configuration, isOfOneProcess: Bool) {
    forkCount = isOfOneProcess ? ProcessIdentity.forkCount : nil
    let count = configuration.stripes
    precondition([1, 2, 4, 8, 16].contains(count), "stripes must be 1, 2, 4, 8 or 16")
    precondition(
      configuration.sweepInterval ?? .seconds(1) > .zero,
      "sweepInterval must be positive; nil sweeps never")
    let limits = MemoryLimits(
      cost: configuration.costLimit, count: configuration.countLimit,
      age: configuration.ageLimit, trimTarget: configuration.trimTarget)
    limits.checkPreconditions()
    self.configuration = configuration
    hasOwnClock = configuration.clock.isOwn
    self.limits = ForkSafeMutex(limits)
    stripeMask = count - 1
    let now = PackedTime(configuration.clock.now())
    // The stripes beyond the count are made too, but the mask never selects them.
    stripes = InlineArray { index in
      var lru = LRU<Key, Value>()
      lru.setLimits(limits.share(ofStripe: index % count, of: count), at: now)
      if configuration.recordsUseTimes { lru.keepTimes(from: now) }
      return ForkSafeMutex(lru)
    }
    if configuration.recordsUseTimes || limits.age != nil { noteTimes() }
  }

  deinit { JobTimer.own.forget(jobsOf: threads) }
}
