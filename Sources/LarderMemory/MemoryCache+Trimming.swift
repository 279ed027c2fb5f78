import LarderBasics

extension MemoryCache {
  /// Removes expired values, then the least recently used, until at most `count` are left.
  ///
  /// Returns how many were removed. With several stripes each keeps its part of the count.
  ///
  /// - Complexity: O(*m*) for *m* removed, O(*n*) when something can have expired.
  @discardableResult
  public func trim(toCount count: Int) -> Int {
    precondition(count >= 0, "the count to trim to must not be negative")
    return trimming(to: count) { lru, target, now, removals in
      lru.evict(toCount: target, besides: .none, .explicit, at: now, into: &removals)
    }
  }

  /// Removes expired values, then the least recently used, until the rest costs at most `cost`.
  ///
  /// Returns how many were removed. With several stripes each keeps its part of the cost.
  ///
  /// - Complexity: O(*m*) for *m* removed, O(*n*) when something can have expired.
  @discardableResult
  public func trim(toCost cost: Int) -> Int {
    precondition(cost >= 0, "the cost to trim to must not be negative")
    return trimming(to: cost) { lru, target, now, removals in
      lru.evict(toCost: target, besides: .none, .explicit, at: now, into: &removals)
    }
  }

  /// Removes expired values and those that were last used `age` ago or earlier.
  ///
  /// Returns how many were removed. Where times of use were not recorded (see
  /// ``Configuration/recordsUseTimes``) they are from this call on, and all values count as used at
  /// the time of it.
  ///
  /// - Complexity: O(*m*) for *m* removed, O(*n*) when something can have expired.
  @discardableResult
  public func trim(toAge age: Duration) -> Int {
    precondition(age >= .zero, "the age to trim to must not be negative")
    let span = PackedSpan(age)
    return trimming(to: 0) { lru, _, now, removals in
      lru.keepTimes(from: now)
      lru.evict(toAge: span, at: now, into: &removals)
    }
  }

  /// Removes what has expired and then trims each stripe to its part of a target.
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
