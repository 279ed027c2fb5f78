public import Synchronization

#if LARDER_SCHEDULES || LARDER_THREAD_SANITIZER
  public import LarderSystem
#else
  import LarderSystem
#endif

extension MemoryCache {
  /// Sees to it that a sweep is planned. Called without the lock, after what can expire was stored.
  @inlinable @inline(__always)
  func planSweep() {
    if sweepPlan.load(ordering: .relaxed) != ownSweepPlan { startSweeping() }
  }

  /// What stands for a sweep that a thread of this process will make: a forked child inherits the
  /// cache and none of its parent's threads.
  @usableFromInline
  var ownSweepPlan: UInt32 { ProcessIdentity.forkCount &+ 1 }

  /// Whether a sweep is planned in this process.
  var isSweepPlanned: Bool { sweepPlan.load(ordering: .sequentiallyConsistent) == ownSweepPlan }

  /// Plans a sweep unless another thread has, or none is wanted.
  @usableFromInline
  func startSweeping() {
    guard let interval = configuration.sweepInterval else { return }
    let plan = ownSweepPlan
    guard sweepPlan.exchange(plan, ordering: .relaxed) != plan else { return }
    IOExecutor.upkeep.submit(after: interval) { [weak self] in self?.sweep() }
  }

  /// Removes what has expired, and plans the next sweep if anything is left that can.
  func sweep() {
    // First the plan is taken back, then the entries are looked at. A store adds its entry first
    // and looks at the plan then. Whichever of the two comes first under the lock, the other sees
    // it.
    sweepPlan.store(0, ordering: .relaxed)
    for index in 0...stripeMask { sweep(stripe: index) }
    planSweepIfNeeded()
  }

  /// Removes what has expired from a stripe, in slices: between two of them others get the lock.
  private func sweep(stripe index: Int) {
    guard withStripe(at: index, { $0.beginSweep(at: now(for: $0)) }) else { return }
    var isUnfinished = true
    while isUnfinished {
      var removals = Removals<Key, Value>()
      isUnfinished = withStripe(at: index) { lru in
        let isUnfinished = lru.sweepSlice(at: now(for: lru), into: &removals)
        // At the end, since it moves entries. That takes their number, of which there are few then.
        if !isUnfinished { lru.shrinkIfSparse() }
        check(lru)
        return isUnfinished
      }
      finish(&removals)
    }
  }

  /// Plans a sweep if any stripe has something that can expire.
  func planSweepIfNeeded() {
    for index in 0...stripeMask where withStripe(at: index, { $0.canExpire }) {
      return planSweep()
    }
  }
}
