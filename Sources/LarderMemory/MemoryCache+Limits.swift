import LarderSystem

extension MemoryCache {
  /// The most that all values may cost together; nil for no limit. Lowering it evicts at once.
  public var costLimit: Int? {
    get { limits.withLock { $0.cost } }
    set { setLimits { MemoryLimits(cost: newValue, count: $0.count, age: $0.age, of: $0) } }
  }

  /// The most values; nil for no limit. Lowering it evicts at once.
  public var countLimit: Int? {
    get { limits.withLock { $0.count } }
    set { setLimits { MemoryLimits(cost: $0.cost, count: newValue, age: $0.age, of: $0) } }
  }

  /// How long a value stays without being used; nil for no limit. Lowering it removes at once.
  ///
  /// Where times of use were not recorded before, all values count as used when the limit is set.
  public var ageLimit: Duration? {
    get { limits.withLock { $0.age } }
    set { setLimits { MemoryLimits(cost: $0.cost, count: $0.count, age: newValue, of: $0) } }
  }

  /// Changes the limits for all stripes and removes what no longer fits.
  func setLimits(_ change: (MemoryLimits) -> MemoryLimits) {
    let now = now
    limits.withLock { $0 = change($0) }
    var index = 0
    _ = removing { lru, removals in
      // Read under the stripe's lock, and not once for all: who changed the limits last visits each
      // stripe afterwards, and what a slower one brings must not be older. This lock is taken
      // inside a stripe's and never around one.
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
