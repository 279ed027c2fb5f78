import LarderBasics
import LarderSystem
import Synchronization

/// Evictions. They have five steps:
///
/// 1. `beginPurge`: a limit was passed. The thread whose store passed it evicts down to the limit,
///    and one thread is asked to go on to the target.
/// 2. `chooseVictim`: a thread chooses an entry, by `EvictionRun.takeNext` and a `TrimPlan`. In the
///    same hold of the lock its name is held and it leaves the index.
/// 3. `remove`: the thread looks at the file once more and unlinks it, without the lock.
/// 4. `settle(evicted:)`: the outcome is taken over and the name is given back, in one hold with
///    the next choice.
/// 5. The purge is over when a choice finds its goals reached, or the directory refuses removals.
///
/// There is no state between: a name is at rest, or held by the thread that removes its file. A
/// thread evicts with no name of its own, and holds one name at a time. Names that other threads
/// hold are passed over. All processes evict from the same cold end, and a file that another one
/// took first is simply gone.
///
/// | occasion | function | plan |
/// |---|---|---|
/// | after a store that has passed a limit | `keepLimits(after:)` | `.limits` |
/// | a limit was passed, here or elsewhere | `carryOnPurge(after:)` | `setGoals(of:stuck:_:)` |
/// | a flush, and the end of the engine | `finishPurge()` | `setGoals(of:stuck:_:)` |
/// | the end of the first scan, and every `sweepInterval` | `sweep()` | `.sweep` |
/// | a caller's trim or sweep | `trim(_:_:)` | `TrimPlan(for:at:_:)`, or that of the caller |
/// | a store that finds the disk full | `makeRoom(for:since:)` | to the target, and room for it |
extension DiskEngine {
  /// Keeps the limits after a store, which holds no name any more. Once the directory is scanned,
  /// the total is then at most the limit, beside what is being stored and what cannot be removed;
  /// another thread goes on to the target.
  func keepLimits(after name: EntryName) {
    rescanIfDue()
    guard configuration.hasLimit else { return }
    startScanIfNeeded()
    waitForClearing { [configuration] in $0.hasRoom(for: 0, configuration) }
    guard checkLimits(sparing: name), !isAstray || location.isAtPath else { return }
    evict(EvictionRun(.limits(sparing: name, at: now, configuration)))
  }

  /// Begins a purge over a limit. Returns whether it is of size or count, which each store keeps.
  @discardableResult
  func checkLimits(sparing name: EntryName? = nil) -> Bool {
    guard configuration.hasLimit, !isReadOnly else { return false }
    let missing = missingFreeSpace()
    return carryOnPurge { $0.beginPurge(configuration, sparing: name, missing: missing) }
  }

  /// Has a thread carry on a purge that none carries on, after a step in one hold of the lock.
  @discardableResult
  func carryOnPurge(after step: (inout EngineState) -> Bool = { _ in false }) -> Bool {
    let (result, carriesOn) = withState { (step(&$0), $0.evictions.claimPurge()) }
    if carriesOn { runAside { self.evict(EvictionRun(TrimPlan(now: self.now), isPurge: true)) } }
    return result
  }

  /// Waits until a removal of everything has removed enough, in place of evicting newer values.
  /// Returns whether one was going on.
  @discardableResult
  func waitForClearing(until isEnough: (inout EngineState) -> Bool) -> Bool {
    guard finds({ $0.clearing.hidesFiles }) else { return false }
    wait { !$0.clearing.hidesFiles || isEnough(&$0) ? () : nil }
    return true
  }

  /// The number of steps between two looks at other processes' changes and the free space.
  private static let lookInterval = 16

  /// Evicts entry by entry, until the plan is fulfilled.
  ///
  /// - Parameters:
  ///   - most: The most steps, two an entry, if what others hold or evict is waited for; or nil.
  ///   - tells: Whether memory drops the values too, and the caller syncs. They may stay for one
  ///     granularity if a limit evicts and no neighbours are followed.
  /// - Returns: What was removed, and whether the engine was shut down before the end.
  @discardableResult
  func evict(
    _ run: EvictionRun, waitingAtMost most: Int? = nil, tells: Bool = false
  ) -> (removal: BulkRemoval, isClosed: Bool) {
    var (run, last, count, hasWaited) = (run, Attempt?.none, 0, most == nil)
    var step = EngineState.EvictionStep.later
    loop: while count < most ?? .max {
      if count.isMultiple(of: Self.lookInterval) {
        choose(&run, after: &last, isLast: true)
        look(&run)
      }
      let ticket = changed.ticket()
      step = choose(&run, after: &last)
      switch step {
      case .remove(let victim, let epoch):
        let attempt = remove(victim, since: epoch, tells: tells)
        run.add(attempt.outcome, of: victim)
        (last, count) = (attempt, count + 1)
      case .later: break
      case .blocked where most != nil: changed.wait(ticket)
      case .end where !exchange(&hasWaited, with: true):
        // Waits for the victims of other threads, which have left the index and may come back.
        for name in withState({ $0.evictions.names }) { changing(name) { _ in } }
      case .blocked, .closed, .end: break loop
      }
    }
    choose(&run, after: &last, isLast: true)
    // Threads that wait for the end of a purge look again.
    changed.signal()
    // Another thread may have left it because of the last victim here.
    if step != .blocked { carryOnPurge() }
    if threads.hasLeftJobs { threads.runReady() }
    if run.result.removed > 0, !tells { upkeep(try synchronizeRemovals()) }
    return (run.result, isClosed: step == .closed)
  }

  /// Settles the last attempt and, unless it was the last one, chooses a victim, in one hold.
  @discardableResult
  private func choose(
    _ run: inout EvictionRun, after attempt: inout Attempt?, isLast: Bool = false
  ) -> EngineState.EvictionStep {
    let (last, now) = (exchange(&attempt, with: nil), heldNow)
    if isLast && last == nil { return .end }
    let step = withState { [configuration] state -> EngineState.EvictionStep in
      if let last {
        let name = last.victim.entry.name
        state.settle(evicted: last.victim, since: last.epoch, last.outcome, at: now)
        state.counters.evictionTime += last.duration
        if last.outcome.isRemoved, last.victim.cause == .evicted, last.epoch == state.epoch {
          state.count(evicted: last.victim.entry, by: run.plan, at: now, configuration.sizeMeasure)
        }
        // The change ends here and not when the file is gone. Otherwise an event of a file that
        // takes the name in between would be compared with the victim's, and be ignored.
        generations.end(name)
        if !state.locks.giveBack(name) { return .later }
      }
      if isLast { return .end }
      let step = state.chooseVictim(&run, configuration)
      // In the same hold: a read that has opened the file must not index it any more.
      if case .remove(let victim, _) = step { generations.begin(victim.entry.name) }
      return step
    }
    guard let last else { return step }
    if case .later = step { followLateEvents(of: last.victim.entry.name) }
    changed.signal()
    return step
  }

  /// Removes the file of a victim unless it was used or replaced since.
  private func remove(_ victim: Victim, since epoch: NameLocks.Epoch, tells: Bool) -> Attempt {
    let (entry, start) = (victim.entry, MonotonicTime.now)
    // Chosen while the engine was open.
    let held = HeldName(name: entry.name, epoch: epoch, phase: .open)
    // Before: a neighbour that removes the key later meets no file, and no event would tell memory.
    if tells || followsNeighbours { tell(.filesChanged([entry.name])) }
    let judged = HeldName.Judged.exactly(
      inode: entry.inode, changeTime: entry.changeTime, used: (entry.lastAccess, heldNow))
    let outcome = unlink(held, judged, in: location.handle)
    switch outcome {
    case .removed: removals.tell(entry.name, victim.cause)
    // What another process did leaves memory here: the index changes next, and the event is known.
    case .changed: tell(.filesChanged([entry.name]))
    case .failed: break
    }
    return Attempt(
      victim: victim, epoch: epoch, outcome: outcome,
      duration: MonotonicTime.now.duration(since: start))
  }
}

/// An attempt to remove a victim's file. The thread that made it still holds the name.
private struct Attempt: Sendable {
  let victim: Victim
  let epoch: NameLocks.Epoch
  let outcome: RemovalOutcome
  let duration: Duration
}

// What is decided of an eviction.
extension EngineState {
  /// Begins a purge if a limit is exceeded, or has the one that is going on serve it too. A process
  /// that has stored nothing evicts for no limit.
  ///
  /// - Parameters:
  ///   - name: The entry that was stored; nil if something else was learned. Then the last entry in
  ///     the order stays, because its store may be about to check the limits itself.
  ///   - missing: The bytes that the file system lacks for the limit on free space.
  /// - Returns: Whether a size or count limit is exceeded.
  @discardableResult
  mutating func beginPurge(
    _ configuration: DiskCache.Configuration, sparing name: EntryName?, missing: UInt64 = 0
  ) -> Bool {
    guard isScanned, !phase.isShutDown, counters.stores > 0, !replacements.mustLock
    else { return false }
    let isSizePassed = configuration.isSizePassed(by: catalog.index.totals)
    let isCountPassed = configuration.isCountPassed(by: catalog.index.totals)
    let totals = catalog.index.totals
    catalog.larger.keepLimits(
      beside: (configuration.sizeMeasure.of(totals), totals.count),
      limits: (configuration.sizeLimit, configuration.countLimit), share: configuration.trimTarget)
    guard isSizePassed || isCountPassed || missing > 0 else { return false }
    if evictions.purge == nil { counters.purges += 1 }
    var purge = evictions.purge ?? Purge()
    if isSizePassed { purge.isForSize = true }
    if isCountPassed { purge.isForCount = true }
    if missing > 0 { (purge.missing, purge.freed) = (missing, 0) }
    purge.spared = name ?? purge.spared ?? catalog.index.mostRecentName
    evictions.purge = purge
    return isSizePassed || isCountPassed
  }

  /// Whether a value of a number of bytes exceeds no limit beside the files that a removal of
  /// everything has still to remove.
  func hasRoom(for byteCount: Int, _ configuration: DiskCache.Configuration) -> Bool {
    guard clearing.remaining.count > 0, !phase.isShutDown else { return true }
    var totals = totalsOnDisk
    if byteCount > 0 {
      let bytes = UInt64(byteCount)
      totals += IndexTotals(byteCount: bytes, allocatedByteCount: (bytes + 4095) / 4096 * 4096)
    }
    return !configuration.isSizePassed(by: totals) && !configuration.isCountPassed(by: totals)
  }

  /// The next step of a thread that evicts.
  enum EvictionStep: Sendable, Equatable {
    /// Remove the file. The name is held, and the epoch is that of this moment.
    case remove(Victim, NameLocks.Epoch)
    /// Ask again, because the last name had events, which were followed first.
    case later
    /// Other threads hold the names of all entries that could go.
    case blocked
    /// Nothing more is to go.
    case end
    /// The engine is shut down, and another process may own the directory soon.
    case closed
  }

  /// Chooses the entry that goes next: holds its name, and takes it out of the index.
  mutating func chooseVictim(
    _ run: inout EvictionRun, _ configuration: DiskCache.Configuration
  ) -> EvictionStep {
    if phase.isShutDown { return .closed }
    // The next store that passes a limit tries again, and takes the lock of another directory.
    if run.isRefused || replacements.mustLock { return .end }
    if run.isHelp, catalog.uses.latest > run.plan.lastUse ?? .never { return .end }
    if run.isPurge {
      guard let purge = evictions.purge else { return .end }
      run.plan.setGoals(of: purge, stuck: catalog.index.stuckTotals, configuration)
      run.freed = purge.freed
    }
    run.plan.outdatedAhead = catalog.uses.usesBeforeStep(by: run.plan.outdatedAccess)
    run.plan.before = catalog.uses.clockBeforeStep(at: run.plan.now)
    guard let victim = run.takeNext(from: &catalog.index, held: locks.held) else {
      // A victim of another thread may come back, so the purge does not end before it is gone.
      let isBlocked = run.isBlocked || run.isPurge && !evictions.names.isEmpty
      if run.isPurge {
        // Other threads hold all names that could go, so the purge is left to a later one.
        if isBlocked { evictions.purge?.isCarriedOn = false } else { evictions.purge = nil }
      }
      return isBlocked ? .blocked : .end
    }
    let name = victim.entry.name
    _ = locks.take(name)
    evictions.names.append(name)
    return .remove(victim, epoch)
  }

  /// Takes over the outcome for a victim, chosen at an epoch. The caller still holds the name.
  mutating func settle(
    evicted victim: Victim, since epoch: NameLocks.Epoch, _ outcome: RemovalOutcome,
    at now: Timestamp
  ) {
    let name = victim.entry.name
    evictions.end(name, freed: outcome.hasFreed ? victim.entry.allocatedByteCount : 0)
    if outcome.isRemoved { counters.countRemoval(victim.cause) }
    if outcome.isRefusal { evictions.purge = nil }
    // What was removed or replaced as a whole since the choice does not come back.
    guard epoch == self.epoch else { return }
    // The uses that are known here still count, as after an event.
    if !outcome.isRemoved { catalog.index.upsert(victim.entry, order: .byLastAccess) }
    switch outcome {
    case .removed: catalog.remove(name)
    case .changed(let met):
      _ = settle(Finding(name: name, met: met, evidence: .look), isCurrent: true, at: now)
    // When the directory accepts removals again, the coldest has to go first.
    case .failed: if !outcome.isRefusal { catalog.index.stick(name) }
    }
  }
}

// The other occasions.
extension DiskEngine {
  /// Evicts by a plan of the caller's. Of many entries with two threads until the next use, in two
  /// thirds of the time: the kernel does half of an unlink without the directory's lock.
  func trim(_ operation: String, _ plan: (Timestamp) -> TrimPlan) throws(CacheError) -> BulkRemoval
  {
    try checkWritable(operation)
    try revalidate(isUrgent: true, mayMake: true, operation)
    holdSweeps(1)
    defer {
      holdSweeps(-1)
      checkLimits()
    }
    try waitForScan(operation)
    retryStuck()
    var plan = plan(now)
    let (lastUse, count) = withState { ($0.catalog.uses.latest, $0.catalog.index.totals.count) }
    plan.lastUse = max(lastUse, plan.now)
    let part = count > 1_000 ? RemovalProgress() : nil
    if let part {
      var run = EvictionRun(plan)
      run.isHelp = true
      runAside { [self, run] in
        part.add(evict(run, tells: true).removal)
        part.finish()
      }
    }
    var (result, isClosed) = evict(EvictionRun(plan), waitingAtMost: 2 * count + 1, tells: true)
    if let part { result.add(try part.wait()) }
    if isClosed { throw closedError(operation) }
    try attempt(operation, at: location.path, synchronizeRemovals())
    return result
  }

  /// Has sweeps spare entries for a time after their expiry, in whole seconds, a day at most.
  package func spareExpired(for time: Duration) {
    let seconds = min(time, .seconds(86_400)).components.seconds
    grace.max(time > .zero ? Int(seconds) + 1 : 0, ordering: .relaxed)
  }

  /// Has the sweep at a scan's end leave what has expired to a plan, which counts it, or no longer.
  func holdSweeps(_ count: Int) { withState { $0.evictions.waitingTrimCount += count } }

  /// Removes expired and over-aged entries, unless another plan will.
  func sweep() {
    guard withState({ !$0.phase.isShutDown && $0.evictions.waitingTrimCount == 0 }) else { return }
    retryStuck()
    let grace = max(configuration.expiredGrace, .seconds(grace.load(ordering: .relaxed)))
    evict(EvictionRun(.sweep(at: now, grace: grace, configuration)))
  }

  /// Plans the next sweep, which plans the one after it, for as long as the engine lives.
  func planSweep() {
    runLater(after: configuration.sweepInterval) { engine in
      // What was moved away is left alone.
      if engine.withState({ $0.isScanned }), engine.location.isAtPath { engine.sweep() }
      engine.planSweep()
    }
  }

  /// Lets entries be chosen again whose files could not be removed.
  private func retryStuck() { while withState({ $0.catalog.index.unstickSome() }) {} }
}

// Other processes, and the file system.
extension DiskEngine {
  /// Takes in what other processes have done, and whether the file system has space again.
  private func look(_ run: inout EvictionRun) {
    if run.takeMissing() { startScan() }
    // What was moved away is left alone, unless it has come back since.
    if run.isPurge, isAstray, !location.isAtPath {
      withState { $0.evictions.purge = nil }
      if location.isAtPath { checkLimits() }
    }
    lookAround()
    run.isByValue = evictsByValue
    if run.isPurge { run.plan.now = now }
    guard run.isPurge, configuration.freeSpaceLimit != nil, missingBytes() == 0 else { return }
    withState { $0.evictions.purge?.missing = 0 }
  }

  /// Takes in other processes' changes, lest one store faster than it learns. Holds no name.
  func lookAround() {
    guard hasEvents else { return }
    _ = catchUp()
    guard let limit = configuration.sizeLimit else { return }
    withState { [configuration] state in
      let total = configuration.sizeMeasure.of(state.totalsOnDisk)
      let most = UInt64(limit) + UInt64(limit) / 10
      state.evictions.allow(room: most > total ? most - total : 0)
    }
  }

  /// Returns the bytes that the file system lacks for the limit on free space, if a look is due: 0
  /// for a process that has stored nothing, because a reader must not cost the cache its entries.
  private func missingFreeSpace() -> UInt64 {
    guard configuration.freeSpaceLimit != nil else { return 0 }
    // btrfs shows what the last removals have freed with its next commit, 30 s later.
    let pause = configuration.freeSpacePause * (location.handle.fileSystem.name == "btrfs" ? 7 : 1)
    let isDue = withState { state in
      state.isScanned && state.counters.stores > 0
        && state.evictions.beginFreeSpaceCheck(at: .now, pause: pause)
    }
    guard isDue else { return 0 }
    runLater(after: pause) { $0.checkLimits() }
    // What was moved away is left alone, and newer values where a removal of everything goes on.
    return finds { $0.clearing.hidesFiles } || !location.isAtPath ? 0 : missingBytes()
  }

  private func missingBytes() -> UInt64 {
    let limit = UInt64(configuration.freeSpaceLimit ?? 0)
    return limit - min(limit, upkeep(try location.handle.freeByteCount()) ?? limit)
  }
}
