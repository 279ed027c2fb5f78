public import LarderBasics
public import LarderSystem

extension MemoryCache {
  /// Stores a value in place of an older one.
  ///
  /// The value becomes the most recently used one, and other values are evicted until it fits. A
  /// value that is already expired or costs more than the limit is not kept, and the older one is
  /// removed, so that a read never finds a value that was to be replaced.
  ///
  /// - Parameters:
  ///   - value: The value to keep.
  ///   - key: The key of the value.
  ///   - cost: The cost of the value; that of the cost function if nil. A negative cost traps.
  ///   - expiration: The time for which the value is valid; the configured one if nil.
  /// - Complexity: O(1), amortised over the stores whose values it evicts.
  @inlinable
  @discardableResult
  public func store(
    _ value: Value, forKey key: Key, cost: Int? = nil, expiration: Expiration? = nil
  ) -> StoreOutcome {
    storeIf(
      { true }, value, forKey: key, cost: cost ?? configuration.cost?(key, value) ?? 1,
      expiration: expiration ?? configuration.expiration, ceiling: nil)
  }

  /// Stores a value if a condition holds under the lock of the key's stripe. If it does not,
  /// changes nothing and returns `.declined`.
  ///
  /// `Cache` promotes values from disk with it, on the condition that no newer store happened. The
  /// condition must be quick and must not use the cache.
  ///
  /// - Parameter ceiling: The time from which the value must not be served, if there is one.
  /// - Parameter slides: Whether a use may move the expiry, also past the ceiling.
  @inlinable @inline(__always)
  @discardableResult
  package func storeIf(
    _ isCurrent: () -> Bool, _ value: Value, forKey key: Key, cost: Int, expiration: Expiration,
    ceiling: Timestamp?, slides: Bool = true
  ) -> StoreOutcome {
    var removals = Removals<Key, Value>()
    let outcome = storeIf(
      isCurrent, value, forKey: key, cost: cost, expiration: expiration, ceiling: ceiling,
      slides: slides, at: timeToStore(expiration, ceiling), into: &removals)
    finish(&removals)
    return outcome
  }

  /// Stores a value as the function above does, at a time that the caller has read. What leaves for
  /// it, the caller passes to ``finish(_:)`` when it holds no lock.
  @inlinable @inline(__always)
  package func storeIf(
    _ isCurrent: () -> Bool, _ value: Value, forKey key: Key, cost: Int, expiration: Expiration,
    ceiling: Timestamp?, slides: Bool, at time: Timestamp?,
    into removals: inout Removals<Key, Value>
  ) -> StoreOutcome {
    precondition(cost >= 0, "a cost must not be negative")
    let hash = Self.hash(key)
    var (time, canExpire) = (time, false)
    while true {
      let (deadline, now) = deadline(expiration, ceiling, slides, at: time)
      let outcome: StoreOutcome? = withStripe(hash) { lru in
        // Under the lock, so that no newer store can come between the condition and the store.
        guard isCurrent() else {
          lru.settings.counters.countRejection(.declined)
          return .rejected(.declined)
        }
        // Another thread has stored the first value with a time since the clock was passed over.
        if time == nil && lru.settings.keepsTimes { return nil }
        let outcome = lru.store(
          value, forKey: key, tag: Self.tag(hash), cost: cost, deadline: deadline, at: now,
          into: &removals)
        canExpire = lru.canExpire
        return outcome
      }
      if canExpire { planSweep() }
      if let outcome { return outcome }
      time = configuration.clock.now()
    }
  }

  /// Returns the expiry of a value stored at a time, which is nil if it is not needed.
  @inlinable @inline(__always)
  func deadline(
    _ expiration: Expiration, _ ceiling: Timestamp?, _ slides: Bool, at now: Timestamp?
  ) -> (SlotDeadline, PackedTime) {
    guard let now else { return (.never, .zero) }
    var deadline = SlotDeadline(expiration, at: now)
    if let ceiling { deadline = deadline.capped(at: ceiling, slides: slides) }
    if deadline.expiry < .never { noteTimes() }
    return (deadline, PackedTime(now))
  }
}
