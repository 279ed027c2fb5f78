import LarderBasics
import LarderSystem
import Synchronization

/// The occasions on which entries are evicted. `TrimPlan` has a plan for each, by which
/// `EngineState.chooseVictim` chooses one entry after the other; `Evictions` lists the steps.
///
/// | occasion | function | plan |
/// |---|---|---|
/// | after a store that has passed a limit | `keepLimits(after:)` | `.limits` |
/// | a limit was passed, here or elsewhere | `carryOnPurge(after:)` | `setGoals(of:stuck:_:)` |
/// | the end of the first scan, and every `sweepInterval` | `sweep()` | `.sweep` |
/// | a caller's trim or sweep | `trim(_:_:)` | `TrimPlan(for:at:_:)`, or that of the caller |
/// | a store that finds the disk full | `makeRoom(for:since:)` | `.room` |
///
/// A thread evicts with no name of its own, and holds one name at a time. Names that other threads
/// hold are passed over. All processes evict from the same cold end, and a file that another one
/// took first is simply gone.
extension DiskEngine {
  /// Keeps the limits after a store, which holds no name any more. Once the directory is scanned,
  /// the total is then at most the limit, beside what is being stored and what cannot be removed;
  /// another thread goes on to the target.
  func keepLimits(after name: EntryName) {
    guard configuration.hasLimit else { return }
    startScanIfNeeded()
    rescanIfDue()
    waitForClearing(toHold: 0)
    if beginPurgeIfDue(sparing: name) {
      evict(TrimProgress(.limits(sparing: name, at: now, configuration)))
    }
  }

  /// Begins a purge if what a scan or another process has shown exceeds a limit.
  func checkLimits() {
    guard configuration.hasLimit, !isReadOnly else { return }
    _ = beginPurgeIfDue(sparing: nil)
  }

  /// - Returns: Whether a size or count limit is exceeded.
  private func beginPurgeIfDue(sparing name: EntryName?) -> Bool {
    let missing = missingFreeSpace()
    return carryOnPurge { $0.beginPurge(configuration, sparing: name, missing: missing) }
  }

  /// Has a thread carry on a purge that no thread carries on, after a step in the same hold of the
  /// lock.
  @discardableResult
  func carryOnPurge(after step: (inout EngineState) -> Bool = { _ in false }) -> Bool {
    let (result, carriesOn) = withState { (step(&$0), $0.evictions.claimPurge()) }
    if carriesOn { runAside { self.evict(TrimProgress(purgingAt: self.now)) } }
    return result
  }

  /// The number of steps between two looks at other processes' changes and the free space.
  private static let lookInterval = 16

  /// Evicts entry by entry, until the plan is fulfilled.
  ///
  /// - Parameters:
  ///   - most: The most steps.
  ///   - waits: Whether names that other threads hold are waited for.
  ///   - tells: Whether memory drops the values too. The value of an entry that a limit evicts may
  ///     stay there for one granularity, because the disk does not know of uses there.
  /// - Returns: What was removed, and whether the engine was shut down before the end.
  @discardableResult
  func evict(
    _ progress: TrimProgress, atMost most: Int = .max, waits: Bool = false, tells: Bool = false
  ) -> (removal: BulkRemoval, isClosed: Bool) {
    var (progress, last, count) = (progress, Attempt?.none, 0)
    var step = EngineState.EvictionStep.later
    loop: while count < most {
      if count.isMultiple(of: Self.lookInterval) {
        choose(&progress, after: &last, isLast: true)
        look(&progress)
      }
      let ticket = changed.ticket()
      step = choose(&progress, after: &last)
      switch step {
      case .remove(let victim, let epoch):
        last = remove(victim, since: epoch, tells: tells)
        if let last { progress.add(last.outcome, of: victim) }
        count += 1
      case .later: break
      case .blocked where waits: changed.wait(ticket)
      case .blocked, .closed, .end: break loop
      }
    }
    choose(&progress, after: &last, isLast: true)
    // Threads that wait for the end of a purge look again.
    changed.signal()
    // Another thread may have left it because of the last victim here.
    if step != .blocked { carryOnPurge() }
    if threads.hasLeftJobs { threads.runReady() }
    if progress.result.removed > 0 { synchronizeRemovals() }
    return (progress.result, isClosed: step == .closed)
  }

  /// Settles the last attempt and chooses the next victim, unless that was the last, in one hold of
  /// the lock.
  @discardableResult
  private func choose(
    _ progress: inout TrimProgress, after attempt: inout Attempt?, isLast: Bool = false
  ) -> EngineState.EvictionStep {
    let (last, now) = (exchange(&attempt, with: nil), heldNow)
    if isLast && last == nil { return .end }
    let step = withState { [configuration] state -> EngineState.EvictionStep in
      if let last {
        let name = last.name
        _ = state.settle(removal: last.removal, last.outcome, of: name, at: now)
        state.counters.evictionTime += last.duration
        // The change ends here and not when the file is gone. Otherwise an event of a file that
        // takes the name in between would be compared with the victim's, and be ignored.
        generations.end(name)
        if !state.locks.giveBack(name) { return .later }
      }
      if isLast { return .end }
      let step = state.chooseVictim(&progress, configuration)
      // In the same hold: a read that has opened the file must not index it any more.
      if case .remove(let victim, _) = step { generations.begin(victim.entry.name) }
      return step
    }
    guard let last else { return step }
    if case .later = step { followLateEvents(of: last.name) }
    changed.signal()
    return step
  }

  /// Removes the file of a victim unless it was used or replaced since.
  private func remove(_ victim: Victim, since epoch: NameLocks.Epoch, tells: Bool) -> Attempt {
    let (entry, start) = (victim.entry, MonotonicTime.now)
    let held = HeldName(name: entry.name, epoch: epoch, phase: .open)
    // Also before the file is removed, because a reader that misses it on the disk must not find it
    // in memory afterwards.
    if tells { tell(.filesChanged([entry.name])) }
    let judged = HeldName.Judged.exactly(
      inode: entry.inode, changeTime: entry.changeTime, unusedSince: entry.lastAccess)
    let outcome =
      upkeep(try held.unlink(judged, in: location.handle, trusting: reader.trust)) ?? .failed
    switch outcome {
    case .removed: removals.tell(entry.name, victim.cause)
    // What another process did leaves memory here, because the index changes next and the event
    // will then compare equal.
    case .changed: tell(.filesChanged([entry.name]))
    case .failed: break
    }
    return Attempt(
      removal: .evicted(victim, since: epoch), name: entry.name, outcome: outcome,
      duration: MonotonicTime.now.duration(since: start))
  }
}

/// An attempt to remove a victim's file. The thread that made it still holds the name.
private struct Attempt: Sendable {
  let removal: Removal
  let name: EntryName
  let outcome: RemovalOutcome
  let duration: Duration
}

// The choice.
extension EngineState {
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
    _ progress: inout TrimProgress, _ configuration: DiskCache.Configuration
  ) -> EvictionStep {
    if phase.isShutDown { return .closed }
    if progress.isPurge {
      guard let purge = evictions.purge else { return .end }
      progress.plan.setGoals(of: purge, stuck: catalog.index.stuckTotals, configuration)
      progress.freed = purge.freed
    }
    guard let victim = progress.takeNext(from: &catalog.index, held: locks.held) else {
      // A victim of another thread may come back, so the purge does not end before it is gone.
      let isBlocked = progress.isBlocked || progress.isPurge && !evictions.names.isEmpty
      if progress.isPurge {
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
}

// The other occasions.
extension DiskEngine {
  /// Carries the purge on, if one is going on, and waits for the entries that other threads are
  /// evicting or removing as damaged.
  func finishPurge() {
    let count = withState { state in
      state.evictions.purge == nil && state.evictions.names.isEmpty
        && state.evictions.damaged.isEmpty ? nil : state.catalog.index.totals.count
    }
    guard let count else { return }
    // Threads that keep storing must not hold up this one for ever.
    evict(TrimProgress(purgingAt: now), atMost: count + 1, waits: true)
    for name in withState({ $0.evictions.names }) { changing(name) { _ in } }
    wait { $0.evictions.damaged.isEmpty ? () : nil }
  }

  /// Evicts by a plan of the caller's.
  func trim(_ operation: String, _ makePlan: (Timestamp) -> TrimPlan) throws(CacheError)
    -> BulkRemoval
  {
    try checkWritable(operation)
    // The sweep at the end of a scan must not take the entries that a trim has to remove and
    // report.
    withState { $0.evictions.waitingTrimCount += 1 }
    defer {
      withState { $0.evictions.waitingTrimCount -= 1 }
      checkLimits()
    }
    try waitForScan()
    retryStuck()
    let now = now
    var plan = makePlan(now)
    let (lastUse, count) = withState { ($0.catalog.uses.latest, $0.catalog.index.totals.count) }
    plan.lastUse = max(lastUse, now)
    let (result, isClosed) = evict(TrimProgress(plan), atMost: count + 1, waits: true, tells: true)
    if isClosed { throw closedError(operation) }
    return result
  }

  /// Removes expired and over-aged entries, unless a caller's trim will.
  func sweep() {
    guard withState({ !$0.phase.isShutDown && $0.evictions.waitingTrimCount == 0 }) else { return }
    retryStuck()
    evict(
      TrimProgress(.sweep(at: now, grace: configuration.expiredGrace, configuration)))
  }

  /// Plans the next sweep, which plans the one after it, for as long as the engine lives.
  func planSweep() {
    runLater(after: configuration.sweepInterval) { engine in
      if engine.withState({ $0.isScanned }) { engine.sweep() }
      engine.planSweep()
    }
  }

  /// Lets entries be chosen again whose files could not be removed.
  private func retryStuck() {
    while withState({ $0.catalog.index.unstickSome() }) {}
  }
}

// Other processes, and the file system.
extension DiskEngine {
  /// Takes in what other processes have done, and whether the file system has space again.
  private func look(_ progress: inout TrimProgress) {
    if progress.takeMissing() { startScan() }
    lookAround()
    guard progress.isPurge, configuration.freeSpaceLimit != nil, missingBytes() == 0 else { return }
    withState { $0.evictions.purge?.missing = 0 }
  }

  /// Takes in what other processes have done, so that no process stores faster than it learns of
  /// them. Called with no name held.
  func lookAround() {
    guard let limit = configuration.sizeLimit, hasEvents else { return }
    _ = catchUp()
    withState { [configuration] state in
      let total = configuration.sizeMeasure.of(state.totalsOnDisk)
      let most = UInt64(limit) + UInt64(limit) / 10
      state.evictions.allow(room: most > total ? most - total : 0)
    }
  }

  /// Waits while a value of a number of bytes exceeds a limit because of files that a removal of
  /// everything has still to remove.
  func waitForClearing(toHold byteCount: Int) {
    waitForClearing { [configuration] in $0.hasRoom(for: byteCount, configuration) }
  }

  /// Waits while a removal of everything goes on, until it has removed enough files, in place of an
  /// eviction of newer values.
  ///
  /// - Returns: Whether one was going on.
  @discardableResult
  func waitForClearing(until isEnough: (inout EngineState) -> Bool) -> Bool {
    guard finds({ $0.clearing.hidesFiles }) else { return false }
    wait { !$0.clearing.hidesFiles || isEnough(&$0) ? () : nil }
    return true
  }

  /// Returns the bytes that the file system lacks for the limit on free space, if a look is due.
  ///
  /// Returns 0 for a process that has stored nothing. Other programs may have taken the space, and
  /// a reader must not cost the cache its entries.
  private func missingFreeSpace() -> UInt64 {
    guard configuration.freeSpaceLimit != nil else { return 0 }
    let time = MonotonicTime.now
    let isDue = withState { state in
      state.isScanned && state.counters.stores > 0
        && state.evictions.beginFreeSpaceCheck(at: time)
    }
    return isDue ? missingBytes() : 0
  }

  private func missingBytes() -> UInt64 {
    guard let limit = configuration.freeSpaceLimit,
      let free = upkeep(try location.handle.freeByteCount())
    else { return 0 }
    return free < UInt64(limit) ? UInt64(limit) - free : 0
  }
}

// Room on a full disk.
extension DiskEngine {
  /// The number of evictions for a full disk that are over, which a store notes before it writes.
  var fullDiskCount: Int { fullDiskMark.load(ordering: .relaxed) }

  /// Makes room after a store found the disk full: evicts down to the trim target, or waits for
  /// another store that does.
  ///
  /// - Parameter count: The number of evictions that were over when the store began to write. A
  ///   later one counts for this store too.
  /// - Returns: Whether anything was freed, so that another try makes sense. The caller passes the
  ///   outcome of that try to `judgeRoom(hasHelped:)`.
  func makeRoom(for byteCount: Int, since count: Int) -> Bool {
    var start: IndexTotals?
    let hasCleared = waitForClearing { state in
      var gone = start ?? state.clearing.remaining
      start = gone
      gone -= state.clearing.remaining
      return gone.allocatedByteCount > UInt64(byteCount)
    }
    if hasCleared { return true }
    let now = self.now
    var plan: TrimPlan?
    let step = wait { [configuration] state -> FullDiskEvictions.Step? in
      guard state.isScanned else { return .fail }
      let step = state.fullDisk.step(since: count, at: .now, pause: configuration.fullDiskPause)
      if step == .evict {
        state.counters.purges += 1
        plan = .room(for: byteCount, in: state.catalog.index.totals, at: now, configuration)
      }
      return step
    }
    guard let plan else { return step == .retry }
    let hasFreed = evict(TrimProgress(plan)).removal.removed > 0
    withState { $0.fullDisk.end(hasFreed: hasFreed) }
    fullDiskMark.wrappingAdd(1, ordering: .relaxed)
    changed.signal()
    if !hasFreed { judgeRoom(hasHelped: false) }
    return hasFreed
  }

  /// Judges the last eviction for a full disk by a store that was tried again after it.
  func judgeRoom(hasHelped: Bool) {
    withState { state in
      if state.fullDisk.judge(hasHelped: hasHelped, at: .now) {
        state.counters.vainEvictions += 1
      }
    }
  }
}
