public import LarderBasics
public import LarderSystem
public import Synchronization

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
    var removals = Removals<Key, Value>()
    let expiration = expiration ?? configuration.expiration
    let outcome = storeIf(
      { true }, value, forKey: key, cost: cost ?? configuration.cost?(key, value) ?? 1,
      expiration: expiration, ceiling: nil, slides: true, at: timeToStore(expiration, nil),
      into: &removals)
    finish(&removals)
    return outcome
  }

  /// Stores a value if a condition holds under the lock of the key's stripe. If it does not,
  /// changes nothing and returns `.declined`.
  ///
  /// `Cache` promotes values from disk with it, on the condition that no newer store happened. The
  /// condition must be quick and must not use the cache. What leaves for the value, the caller
  /// passes to ``finish(_:)`` when it holds no lock.
  ///
  /// - Parameters:
  ///   - ceiling: The time from which the value must not be served, if there is one.
  ///   - slides: Whether a use may move the expiry, also past the ceiling.
  ///   - time: The time of the store as the caller has read it; nil if none is needed.
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

  /// Plans a sweep unless one is planned. Called without the lock, after storing what can expire.
  @inlinable @inline(__always)
  func planSweep() {
    if sweepPlan.load(ordering: .relaxed) != ownSweepPlan { startSweeping() }
  }

  /// The value of `sweepPlan` for a sweep by a thread of this process. It differs in a forked
  /// child, which inherits the cache but none of its parent's threads.
  @usableFromInline
  var ownSweepPlan: UInt32 { ProcessIdentity.forkCount &+ 1 }

  /// Plans a sweep, unless another thread has planned one or the configuration has none.
  @usableFromInline
  func startSweeping() {
    // A sweep that found no thread waits in the timer, and another is planned once it has one.
    guard let interval = configuration.sweepInterval, JobTimer.own.tryAgain() else { return }
    let plan = ownSweepPlan
    guard sweepPlan.exchange(plan, ordering: .relaxed) != plan else { return }
    let isTaken = JobTimer.own.submit(after: interval, to: threads) { [weak self] in self?.sweep() }
    if !isTaken { sweepPlan.store(0, ordering: .relaxed) }
  }
}
