import LarderBasics
import LarderSystem

/// The occasions on which entries are evicted. Each makes a `TrimPlan`, `TrimCourse` chooses the
/// victims by it, and the evictor removes their files (`EvictionQueue` lists the steps).
///
/// | occasion | function | plan |
/// |---|---|---|
/// | after a store | `enforceLimits(after:)` | `.limits`, which spares the stored name |
/// | the end of the first scan | `EngineState.proceed(with:limits:)` | `.sweep`, then `.limits` |
/// | the end of a later scan, or a neighbour's change | `enforceLimits()` | `.limits` |
/// | every `sweepInterval` | `sweep()` | `.sweep` |
/// | a caller's trim or sweep | `trim(_:_:)` | `TrimPlan(for:at:_:)`, or that of the caller |
/// | a store that finds the disk full | `makeRoom(for:since:)` | `.room` |
///
/// While a caller's trim waits for the first scan, neither the end of that scan nor the timer
/// chooses victims, because the trim chooses and reports them.
extension DiskEngine {
  /// Enforces the limits after a store: starts the scan that they need, and chooses victims if one
  /// is exceeded.
  ///
  /// - Parameter name: The name that was stored, which is no victim; nil after something else.
  func enforceLimits(after name: EntryName?) {
    guard configuration.hasLimit else { return }
    startScanIfNeeded()
    if name != nil { rescanIfDue() }
    enforceLimits { _ in name }
  }

  /// Enforces the limits after a later scan or a change by a neighbour. The end of the first scan
  /// chooses its victims itself (`EngineState.proceed`).
  ///
  /// Spares the last entry in the order, because its store may be about to enforce the limits
  /// itself and must find its entry in the index.
  func enforceLimits() {
    guard configuration.hasLimit else { return }
    enforceLimits { $0.catalog.index.mostRecentName }
  }

  private func enforceLimits(sparing spared: (EngineState) -> EntryName?) {
    var hasPurged = purge(sparing: spared)
    // Stores that exceeded another limit meanwhile left it to this purge, which did not know of it.
    // It is left again to a purge that another thread has begun since, in place of a wait for that.
    while hasPurged, withState({ $0.evictions.takeLeftPurge() }) {
      hasPurged = purge { $0.catalog.index.mostRecentName }
    }
  }

  /// Chooses victims if a limit is exceeded and no other thread is choosing.
  ///
  /// - Returns: Whether this thread has chosen.
  private func purge(sparing spared: (EngineState) -> EntryName?) -> Bool {
    let missing = missingFreeSpace()
    guard isOverLimit(missing) else { return false }
    let hasPurged = purge(missing: missing, sparing: spared)
    // Another thread or process evicts first, which may not know that space is missing.
    if missing > 0 && !hasPurged { withState { $0.limits.forgetFreeSpaceCheck() } }
    return hasPurged
  }

  private func purge(missing: UInt64, sparing spared: (EngineState) -> EntryName?) -> Bool {
    // The election comes first, outside of the engine's lock, because it makes system calls.
    guard let election = termToEvict() else { return false }
    let begun: (plan: TrimPlan, eviction: Eviction)? = withState { [now] state in
      // After shutdown another process may own the directory, so no victims are chosen.
      // A purge that is under way looks at the totals again for each victim, new stores included.
      guard state.isScanned, !state.phase.isShutDown else { return nil }
      if state.evictions.leaveToPurge() {
        // In the same step, so that the purge that it is left to measures again.
        if missing > 0 { state.limits.forgetFreeSpaceCheck() }
        return nil
      }
      guard
        let plan = plan(for: state, missing: missing, protecting: spared(state), at: now)
      else { return nil }
      state.counters.countPurge()
      return (plan, state.evictions.beginPurge(election.lock))
    }
    guard let begun else { return false }
    carryOut(begun.plan, begun.eviction)
    // Ends the term as well if there is nothing to do in it.
    runEvictor()
    return true
  }

  /// Takes a plan's victims out of the index, a slice at a time.
  ///
  /// - Returns: The eviction, for which the caller starts the evictor; nil if the engine is shut
  ///   down, and then nothing was chosen.
  @discardableResult
  func carryOut(_ plan: TrimPlan) -> Eviction? {
    let begun = withState { state in
      // The phase is checked in the step that begins the eviction. The end of the engine waits for
      // evictions that began before it, and after it another process may own the directory.
      state.phase.isShutDown ? nil : state.evictions.begin()
    }
    guard let eviction = begun else { return nil }
    carryOut(plan, eviction)
    return eviction
  }

  private func carryOut(_ plan: TrimPlan, _ eviction: Eviction) {
    var course = TrimCourse(plan)
    while !course.isDone {
      course = withState { [course] state in
        var next = course
        state.evictSlice(&next, eviction)
        return next
      }
    }
    // There are no victims, so no evictor will run and signal the end.
    if eviction.isEmpty { changed.signal() }
  }

  private func isOverLimit(_ missing: UInt64) -> Bool {
    withState { state in
      guard state.isScanned, !state.phase.isShutDown else { return false }
      if missing > 0 || isLimitExceeded(state) { return true }
      state.limits.forgetLostElections()
      return false
    }
  }

  /// Whether the size limit or the count limit is exceeded.
  func isLimitExceeded(_ state: EngineState) -> Bool {
    if let limit = configuration.sizeLimit,
      configuration.sizeMeasure.of(state.catalog.index.totals) > UInt64(limit)
    {
      return true
    }
    if let limit = configuration.countLimit, state.catalog.index.count > limit { return true }
    return false
  }

  /// Returns the plan that the limits ask for; nil if all are kept.
  ///
  /// - Parameter now: The time, which the caller has read before it took the lock, because the
  ///   clock is the program's own code and may use the cache.
  func plan(
    for state: EngineState, missing: UInt64, protecting name: EntryName?, at now: Timestamp
  ) -> TrimPlan? {
    .limits(
      of: state.catalog.index.totals, missing: missing, protecting: name, at: now, configuration)
  }

  /// Returns the bytes that the file system lacks for the limit on free space. Looks at most every
  /// five seconds, because evicted bytes become free only when their files are gone.
  ///
  /// Returns 0 for a process that has stored nothing. Other programs may have taken the space, and
  /// a reader must not cost the cache its entries.
  private func missingFreeSpace() -> UInt64 {
    guard let limit = configuration.freeSpaceLimit else { return 0 }
    let time = MonotonicTime.now
    let isDue = withState { state in
      state.isScanned && state.counters.hasStored
        && state.limits.beginFreeSpaceCheck(at: time)
    }
    guard isDue else { return 0 }
    do throws(Errno) {
      let free = try location.handle.freeByteCount()
      return free < UInt64(limit) ? UInt64(limit) - free : 0
    } catch {
      noteUpkeepFailure(error)
      return 0
    }
  }

  /// Evicts by a plan of the caller's and waits until the files are gone.
  func trim(_ operation: String, _ makePlan: (Timestamp) -> TrimPlan) throws(CacheError)
    -> BulkRemoval
  {
    try checkWritable(operation)
    // The sweep at the end of a scan must not take the entries that a trim has to remove and
    // report.
    withState { $0.limits.beginTrim() }
    defer {
      withState { $0.limits.endTrim() }
      enforceLimits(after: nil)
    }
    try waitForScan()
    guard let eviction = carryOut(makePlan(now)) else {
      throw closedError(operation)
    }
    tellObservers(ofTrimming: eviction)
    return wait(for: eviction)
  }

  /// Makes memory drop the values that a caller's trim has removed from the disk.
  ///
  /// The value of an entry that a limit removes may stay in memory for one granularity: it may be
  /// in use there, and the disk does not know of uses in memory.
  private func tellObservers(ofTrimming eviction: Eviction) {
    guard !observers.all().isEmpty else { return }
    let names = eviction.names
    for name in names { outdateReaders(of: name) }
    tellObservers(ofFiles: names)
  }

  /// Removes expired and over-aged entries.
  func sweep() {
    let plan = backgroundSweepPlan()
    let mayStart = withState { state in
      state.isScanned && !state.phase.isShutDown && !state.limits.hasWaitingTrim
    }
    guard mayStart else { return }
    carryOut(plan)
    runEvictor()
  }

  /// Returns the plan of the sweeps in the background.
  func backgroundSweepPlan() -> TrimPlan {
    .sweep(at: now, grace: configuration.expiredGrace, configuration)
  }

  /// Plans the sweeps: one every `sweepInterval`, for as long as the engine lives.
  func planSweeps() {
    if withState({ $0.limits.planSweeps() }) { planNextSweep() }
  }

  private func planNextSweep() {
    runLater(after: configuration.sweepInterval) { engine in
      guard !engine.withState({ $0.phase.isShutDown }) else { return }
      engine.sweep()
      engine.planNextSweep()
    }
  }
}

extension EngineState {
  /// Takes the next of a plan's victims out of the index. Expired ones are counted as expired, and
  /// the rest with the cause of the plan.
  mutating func evictSlice(_ course: inout TrimCourse, _ eviction: Eviction) {
    let (expired, others) = course.takeSlice(of: &catalog.index)
    hand(expired, to: eviction, .expired)
    hand(others, to: eviction, course.plan.cause)
    if course.isDone { evictions.endChoosing(eviction) }
  }

  /// Makes an entry a victim by itself.
  mutating func evict(_ victim: Victim, _ cause: RemovalCause) {
    catalog.index.remove(victim.name)
    let eviction = evictions.begin()
    hand([victim], to: eviction, cause)
    evictions.endChoosing(eviction)
  }

  private mutating func hand(_ victims: [Victim], to eviction: Eviction, _ cause: RemovalCause) {
    guard !victims.isEmpty else { return }
    let counted = victims.map { $0.counted(as: cause) }
    counters.countRemoval(cause, counted.count)
    for victim in counted { catalog.doom(victim) }
    eviction.add(counted)
  }
}

extension DiskCache.SizeMeasure {
  /// Returns the sum that this measure counts of some totals.
  func of(_ totals: IndexTotals) -> UInt64 {
    self == .bytes ? totals.byteCount : totals.allocatedByteCount
  }
}
