public import LarderBasics
public import LarderSystem

extension MemoryCache {
  /// Stores a value in place of what was there; without an expiration, with the configured one.
  ///
  /// It becomes the most recently used, and others are evicted until it fits. A value that is
  /// already expired or costs more than the limit is not kept, and the old one is removed: a read
  /// never finds what was meant to be replaced.
  ///
  /// - Complexity: O(1), amortised over the stores whose values it evicts.
  @inlinable
  @discardableResult
  public func store(
    _ value: Value, forKey key: Key, expiration: Expiration? = nil
  ) -> StoreOutcome {
    let cost = configuration.cost?(key, value) ?? 1
    return store(value, forKey: key, cost: cost, expiration: expiration)
  }

  /// Stores a value at a cost, which replaces the cost function's. A negative cost traps.
  ///
  /// - Complexity: O(1), amortised over the stores whose values it evicts.
  @inlinable
  @discardableResult
  public func store(
    _ value: Value, forKey key: Key, cost: Int, expiration: Expiration? = nil
  ) -> StoreOutcome {
    storeIf(
      { true }, value, forKey: key, cost: cost, expiration: expiration ?? configuration.expiration,
      ceiling: nil)
  }

  /// Stores a value if a condition holds while the key's lock is held; else it changes nothing and
  /// reports `.declined`.
  ///
  /// This promotes what was read from disk: the condition is that no newer store happened. It must
  /// be quick and must not use the cache.
  ///
  /// - Parameter ceiling: The point after which the value must not be served, if there is one.
  /// - Parameter slides: Whether a use may move the expiry, also past the ceiling.
  @inlinable @inline(__always)
  @discardableResult
  package func storeIf(
    _ isCurrent: () -> Bool, _ value: Value, forKey key: Key, cost: Int, expiration: Expiration,
    ceiling: Timestamp?, slides: Bool = true
  ) -> StoreOutcome {
    precondition(cost >= 0, "a cost must not be negative")
    let hash = key.hashValue
    var removals = Removals<Key, Value>()
    var canExpire = false
    let outcome = withStripe(hash) { lru in
      // Under the lock, so that a newer store cannot come between the question and the answer.
      guard isCurrent() else {
        lru.settings.counters.countRejection(.declined)
        return StoreOutcome.rejected(.declined)
      }
      let (deadline, now) = deadline(expiration, ceiling, slides, for: lru)
      let outcome = lru.store(
        value, forKey: key, tag: Self.tag(hash), cost: cost, deadline: deadline, at: now,
        into: &removals)
      canExpire = lru.canExpire
      check(lru)
      return outcome
    }
    if canExpire { planSweep() }
    finish(&removals)
    return outcome
  }

  /// When a value expires that is stored now; reads the clock only if one of them can.
  @inlinable @inline(__always)
  func deadline(
    _ expiration: Expiration, _ ceiling: Timestamp?, _ slides: Bool,
    for lru: borrowing LRU<Key, Value>
  ) -> (SlotDeadline, PackedTime) {
    if case .never = expiration, ceiling == nil { return (.never, now(for: lru)) }
    let now = configuration.clock.now()
    let deadline = SlotDeadline(expiration, at: now)
    guard let ceiling else { return (deadline, PackedTime(now)) }
    return (deadline.capped(at: ceiling, slides: slides), PackedTime(now))
  }
}
