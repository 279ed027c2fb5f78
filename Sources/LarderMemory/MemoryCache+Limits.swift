import LarderBasics
import LarderSystem

extension MemoryCache {
  /// The highest cost of all values together; nil for no limit. Lowering it evicts at once.
  public var costLimit: Int? {
    get { limits.withLock { $0.cost } }
    set { setLimits { MemoryLimits(cost: newValue, count: $0.count, age: $0.age, of: $0) } }
  }

  /// The most values; nil for no limit. Lowering it evicts at once.
  public var countLimit: Int? {
    get { limits.withLock { $0.count } }
    set { setLimits { MemoryLimits(cost: $0.cost, count: newValue, age: $0.age, of: $0) } }
  }

  /// The longest time that a value stays without a use; nil for no limit. Lowering it removes
  /// values at once.
  ///
  /// If times of use were not recorded before, all values count as used when the limit is set.
  public var ageLimit: Duration? {
    get { limits.withLock { $0.age } }
    set { setLimits { MemoryLimits(cost: $0.cost, count: $0.count, age: newValue, of: $0) } }
  }

  /// Changes the limits for all stripes and removes the values that no longer fit.
  func setLimits(_ change: (MemoryLimits) -> MemoryLimits) {
    let now = now
    limits.withLock { $0 = change($0) }
    var index = 0
    _ = removing { lru, removals in
      // Read under each stripe's lock, not once for all stripes: the thread that changed the limits
      // last visits each stripe last, so a slower thread must not bring older limits. This lock is
      // taken inside a stripe's lock and never around one.
      let newest = limits.withLock { $0 }
      lru.setLimits(newest.share(ofStripe: index, of: stripeMask + 1), at: now)
      lru.enforceLimits(at: now, into: &removals)
      index += 1
    }
    planSweepIfNeeded()
  }
}

extension MemoryLimits {
  fileprivate init(cost: Int?, count: Int?, age: Duration?, of old: MemoryLimits) {
    self.init(cost: cost, count: count, age: age, trimTarget: old.trimTarget)
  }
}

extension MemoryCache {
  /// Removes expired values, then the least recently used, until at most `count` are left.
  ///
  /// Returns the number of removed values. With several stripes, each keeps its part of the count.
  ///
  /// - Complexity: O(*m*) for *m* removed, O(*n*) if a value may have expired.
  @discardableResult
  public func trim(toCount count: Int) -> Int {
    precondition(count >= 0, "the count to trim to must not be negative")
    return trimming(to: count) { lru, target, now, removals in
      lru.evict(toCount: target, besides: .none, .explicit, at: now, into: &removals)
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
      lru.evict(toCost: target, besides: .none, .explicit, at: now, into: &removals)
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
    return trimming(to: 0) { lru, _, now, removals in
      lru.keepTimes(from: now)
      lru.evict(toAge: span, at: now, into: &removals)
    }
  }

  /// Removes expired values and then trims each stripe to its part of a target.
  private func trimming(
    to target: Int,
    _ body: (inout LRU<Key, Value>, Int, PackedTime, inout Removals<Key, Value>) -> Void
  ) -> Int {
    let (stripes, now) = (stripeMask + 1, now)
    var index = 0
    return removing { lru, removals in
      lru.removeExpired(besides: .none, at: now, into: &removals)
      body(&lru, target / stripes + (index < target % stripes ? 1 : 0), now, &removals)
      index += 1
    }
  }
}
