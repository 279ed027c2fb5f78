public import Synchronization

#if LARDER_SCHEDULES || LARDER_THREAD_SANITIZER
  public import LarderSystem
#else
  import LarderSystem
#endif

extension MemoryCache {
  /// Plans a sweep unless one is planned. Called without the lock, after a value that can expire
  /// was stored.
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
    guard let interval = configuration.sweepInterval else { return }
    let plan = ownSweepPlan
    guard sweepPlan.exchange(plan, ordering: .relaxed) != plan else { return }
    JobTimer.own.submit(after: interval, to: threads) { [weak self] in self?.sweep() }
  }

  /// Removes expired values, and plans the next sweep if any value is left that can expire.
  func sweep() {
    // The sweep first clears the plan and then looks at the entries; a store first adds its entry
    // and then looks at the plan. Whichever of the two takes the lock first, the other sees its
    // effect.
    sweepPlan.store(0, ordering: .relaxed)
    for index in 0...stripeMask { sweep(stripe: index) }
    planSweepIfNeeded()
  }

  /// Removes expired values from a stripe, in slices, so that other threads get the lock in
  /// between.
  private func sweep(stripe index: Int) {
    var now = now
    guard withStripe(at: index, { $0.beginSweep(at: now) }) else { return }
    var (isUnfinished, isSparse) = (true, false)
    while isUnfinished {
      var removals = Removals<Key, Value>()
      isUnfinished = withStripe(at: index) { lru in
        let isUnfinished = lru.sweepSlice(at: now, into: &removals)
        // Only after the last slice, because it moves entries.
        if !isUnfinished { isSparse = lru.shrinkSlice() }
        return isUnfinished
      }
      finish(&removals)
      now = self.now
    }
    if isSparse { shrink(stripe: index) }
  }

  /// Plans a sweep if any stripe has a value that can expire.
  func planSweepIfNeeded() {
    for index in 0...stripeMask where withStripe(at: index, { $0.canExpire }) {
      return planSweep()
    }
  }
}
