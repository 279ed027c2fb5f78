import LarderBasics
import LarderSystem

extension MemoryCache {
  /// The highest cost of all values together; nil for no limit. Lowering it evicts at once.
  public var costLimit: Int? {
    get { limits.withLock { $0.cost } }
    set { setLimits { $0.cost = newValue } }
  }

  /// The most values; nil for no limit. Lowering it evicts at once.
  public var countLimit: Int? {
    get { limits.withLock { $0.count } }
    set { setLimits { $0.count = newValue } }
  }

  /// The longest time that a value stays unused; nil for no limit. Lowering it removes at once.
  ///
  /// If times of use were not recorded before, all values count as used when the limit is set.
  public var ageLimit: Duration? {
    get { limits.withLock { $0.age } }
    set { setLimits { $0.age = newValue } }
  }

  /// Changes the limits for all stripes and removes the values that no longer fit.
  func setLimits(_ change: (inout MemoryLimits) -> Void) {
    let now = now
    let hasAgeLimit = limits.withLock { limits in
      change(&limits)
      limits.checkPreconditions()
      return limits.age != nil
    }
    // Before the stripes know the limit, because they keep times as soon as they do.
    if hasAgeLimit { noteTimes() }
    var goals = LRU<Key, Value>.Goals()
    _ = removing(at: now) { stripe, isFirst, lru, removals in
      if isFirst { goals = LRU.Goals() }
      // Read under each stripe's lock, not once for all stripes: the thread that changed the limits
      // last visits each stripe last, so a slower thread must not bring older limits. This lock is
      // taken inside a stripe's lock and never around one.
      let newest = limits.withLock { $0 }
      return lru.lowerSlice(
        to: newest.share(ofStripe: stripe, of: stripeMask + 1), &goals, at: now, into: &removals)
    }
    // What has reached an age limit counts as expired from now on.
    if hasAgeLimit { removeExpired() }
    planSweepIfNeeded()
  }

  /// Removes expired values, then the least recently used, until at most `count` are left.
  ///
  /// Returns the number of removed values. With several stripes, each keeps its part of the count.
  ///
  /// - Complexity: O(*m*) for *m* removed, O(*n*) if a value may have expired.
  @discardableResult
  public func trim(toCount count: Int) -> Int {
    precondition(count >= 0, "the count to trim to must not be negative")
    return trimming(to: count) { lru, target, now, removals in
      lru.evictSlice(.explicit, at: now, into: &removals) { $0.slab.count > target }
    }
  }

  /// Removes expired values, then the least recently used, until the rest costs at most `cost`.
  ///
  /// Returns the number of removed values. With several stripes, each keeps its part of the cost.
  ///
  /// - Complexity: O(*m*) for *m* removed, O(*n*) if a value may have expired.
  @discardableResult
  public func trim(toCost cost: Int) -> Int {
    precondition(cost >= 0, "the cost to trim to must not be negative")
    return trimming(to: cost) { lru, target, now, removals in
      lru.evictSlice(.explicit, at: now, into: &removals) { $0.slab.totalCost > target }
    }
  }

  /// Removes expired values and those that were last used `age` ago or earlier.
  ///
  /// Returns the number of removed values. If times of use were not recorded (see
  /// ``Configuration/recordsUseTimes``), they are from this call on, and all values count as used
  /// at the time of the call.
  ///
  /// - Complexity: O(*m*) for *m* removed, O(*n*) if a value may have expired.
  @discardableResult
  public func trim(toAge age: Duration) -> Int {
    precondition(age >= .zero, "the age to trim to must not be negative")
    let span = PackedSpan(age)
    noteTimes()
    return trimming(to: 0) { lru, _, now, removals in
      lru.keepTimes(from: now)
      return lru.evictSlice(toAge: span, at: now, into: &removals)
    }
  }

  /// Removes expired values and then trims each stripe to its part of a target, in slices.
  private func trimming(
    to target: Int,
    _ evict: (inout LRU<Key, Value>, Int, PackedTime, inout Removals<Key, Value>) -> Bool
  ) -> Int {
    let (stripes, now) = (stripeMask + 1, now)
    return removing(at: now) { stripe, _, lru, removals in
      evict(&lru, target / stripes + (stripe < target % stripes ? 1 : 0), now, &removals)
    }
  }
}
