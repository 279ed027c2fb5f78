import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Takes the lock that the mode asks for. It ends when the directory's descriptor is closed.
  func lockDirectory() throws(CacheError) {
    if let errno = try location.lock() { noteUpkeepFailure(errno) }
  }

  /// Revalidates the directory; returns whether another one is held now, for which all starts anew.
  @discardableResult
  func revalidate(isUrgent: Bool, mayMake: Bool, _ operation: String) throws(CacheError) -> Bool {
    let isReplaced = try location.revalidate(isUrgent: isUrgent, mayMake: mayMake, operation)
    if isReplaced { directoryChanged() }
    // Again if another directory has taken the path while the one before it was being locked.
    while finds({ $0.replacements.mustLock }) { try lockReplacement(operation) }
    return isReplaced
  }

  /// Takes the lock of a directory that has replaced the one before.
  ///
  /// Every call tries again until it gets the lock, because nothing is written without it. None
  /// takes it once the engine is shut down: no call would release it any more, and the next opener
  /// would find the directory locked by its own process.
  private func lockReplacement(_ operation: String) throws(CacheError) {
    let count = withState { state -> Int? in
      if state.phase.isShutDown { return nil }
      state.replacements.lockingCount += 1
      return state.replacements.count
    }
    guard let count else { throw closedError(operation) }
    let result = Result { () throws(CacheError) in try lockDirectory() }
    withState { state in
      state.replacements.lockingCount -= 1
      if case .success = result { state.replacements.lockedCount = count }
    }
    changed.signal()
    try result.get()
  }

  /// Whether a store that failed can be tried again: its directory had gone and is there again.
  ///
  /// tmpfs accepts an unnamed file in a removed directory, and reports ENOENT only when the file
  /// gets its name. Other file systems report EPERM or ENOENT at once.
  func hasRecovered(from failure: CacheError) -> Bool {
    guard failure.errno == .noSuchFile || failure.errno == .notPermitted else { return false }
    return followReplacement(isUrgent: true, mayMake: true)
  }

  /// Revalidates the directory, by default for an operation that only reads. Counts a failure: an
  /// unsafe directory as EPERM, and one that another process holds as EWOULDBLOCK.
  @discardableResult
  package func followReplacement(isUrgent: Bool = false, mayMake: Bool = false) -> Bool {
    do throws(CacheError) {
      return try revalidate(isUrgent: isUrgent, mayMake: mayMake, "follow")
    } catch {
      let code = error.code == .unsafeDirectory ? Errno.notPermitted : .wouldBlock
      noteUpkeepFailure(error.errno ?? code)
      return false
    }
  }

  /// Waits until all uses so far have reached the disk, and evictions have ended.
  func flush() throws(CacheError) {
    guard !isReadOnly else { return }
    // First, because a purge passes over the names that are being stamped.
    finishPurge()
    drainStamps()
    // Other threads may have taken some of the uses.
    wait { $0.catalog.uses.isDraining ? nil : () }
    try attempt("flush", at: location.path, synchronizeRemovals())
  }

  /// Carries a purge on, and waits for what other threads evict or remove as damaged.
  func finishPurge() {
    let count = withState { state in
      state.evictions.purge == nil && state.evictions.names.isEmpty
        && state.evictions.damaged.isEmpty ? nil : state.catalog.index.totals.count
    }
    guard let count else { return }
    // Threads that keep storing must not hold up this one for ever.
    evict(EvictionRun(TrimPlan(now: now), isPurge: true), waitingAtMost: 2 * count + 1)
    wait { $0.evictions.damaged.isEmpty ? () : nil }
  }

  /// Ends the engine when its last object is closed.
  func shutDown() throws(CacheError) {
    defer { end() }
    // From here on a store that does not hold its name yet must not publish.
    advance(to: .ending)
    if !isReadOnly, withState({ $0.catalog.scans.mustFinishScan(configuration) }) {
      // If it fails, the next process that scans enforces the limit instead.
      wait { $0.catalog.scans.progress == .running ? nil : () }
      checkLimits()
    }
    finishPurge()
    advance(to: .shutDown)
    endWatching()
    wait { state -> Void? in
      // A scan or a clear that still runs would remove files of the directory's next owner.
      if state.catalog.scans.isOngoing || state.clearing.isRunning { return nil }
      // A store or removal that holds its name goes on, and ends before the lock is released. A
      // thread that is locking a directory it has just found ends too, so that `end` unlocks it.
      return state.locks.isEmpty && state.replacements.lockingCount == 0 ? () : nil
    }
    try flush()
  }

  private func advance(to phase: Phase) { withState { $0.phase.advance(to: phase) } }

  private func end() {
    // The directory can be opened again even while a reference to the closed object is left.
    if !isReadOnly { upkeep(try location.handle.descriptor.unlock()) }
    configuration.clock.remember(
      withState { $0.catalog.uses.lastAccess }, in: location.handle.identity)
    location.close()
    EngineRegistry.remove(location)
    advance(to: .ended)
    removals.finish()
    JobTimer.own.forget(jobsOf: threads)
    // The marks end with it.
    _ = turns.withLock { exchange(&$0.tag, with: nil) }
    wakeTurns(looks: true)
    changed.signal()
  }
}
