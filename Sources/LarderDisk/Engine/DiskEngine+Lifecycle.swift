import LarderBasics
import LarderSystem
import Synchronization

extension DiskEngine {
  /// Takes the lock that the mode asks for; it ends with the directory's descriptor.
  func lockDirectory() throws(CacheError) {
    let lock: FileLock
    switch configuration.mode {
    case .readOnly, .fixture: return
    case .shared: lock = .shared
    case .exclusive:
      // A lock on a directory there keeps nobody on another machine out.
      guard !isOnNetwork else {
        throw CacheError(.exclusiveUnsupported, operation: "open", path: location.path)
      }
      lock = .exclusive
    }
    var isLocked = true
    do throws(Errno) {
      isLocked = try location.handle.descriptor.tryLock(lock)
    } catch {
      // A file system without locks has no other process's lock either.
      noteUpkeepFailure(error)
    }
    guard isLocked else { throw lockedError() }
  }

  /// That the directory is held, and by whom, where the system tells.
  private func lockedError() -> CacheError {
    let holders = LockTable.holders(of: location.handle.identity).map(String.init)
    let text = "held by process \(holders.joined(separator: ", "))"
    return CacheError(
      .locked, operation: "open", path: location.path, underlying: holders.isEmpty ? nil : text)
  }

  /// Sees that the directory that is held is still the one that the path leads to.
  ///
  /// - Returns: Whether it was not, and another is held now.
  @discardableResult
  func revalidate(
    isUrgent: Bool, mayMake: Bool, _ operation: String
  ) throws(CacheError) -> Bool {
    var isReplaced = false
    // While the path is known to lead elsewhere, every call looks whether there is a directory.
    let isAstray = isAstray
    do throws(Errno) {
      isReplaced = try location.revalidate(isUrgent: isUrgent || isAstray, mayMake: mayMake)
    } catch {
      // Said by each call and not by one a second: the others would go on in a directory that is
      // no longer the cache's.
      watching.isAstray.store(true, ordering: .relaxed)
      throw CacheError(errno: error, operation: operation, path: location.path)
    }
    if isAstray && location.isAtPath { watching.isAstray.store(false, ordering: .relaxed) }
    if isReplaced { directoryChanged() }
    guard mayBe(.mustLock) else { return false }
    // Asked again at each call until it is had: nothing is written without the lock.
    try lockDirectory()
    withState { $0.mustLock = false }
    return isReplaced
  }

  /// After a store failed: whether the directory was gone and is there again, so that another try
  /// makes sense.
  ///
  /// tmpfs takes an unnamed file in a removed directory and says ENOENT only when it is to get its
  /// name; others say EPERM or ENOENT at once.
  func hasRecovered(from failure: CacheError) -> Bool {
    guard failure.errno == .noSuchFile || failure.errno == .notPermitted else { return false }
    do throws(CacheError) {
      return try revalidate(isUrgent: true, mayMake: true, "store")
    } catch {
      noteUpkeepFailure(error.errno ?? .wouldBlock)
      return false
    }
  }

  /// The same for who only reads: a directory that is gone stays gone, and a failure is counted.
  func followReplacement(isUrgent: Bool = false) {
    do throws(CacheError) {
      try revalidate(isUrgent: isUrgent, mayMake: false, "read")
    } catch {
      noteUpkeepFailure(error.errno ?? .wouldBlock)
    }
  }

  /// Waits until everything accepted so far is on disk: pending uses and the removal of victims.
  func flush() throws(CacheError) {
    guard !isReadOnly else { return }
    writePending()
    waitForStamps()
    waitForEvictor()
    try throwLoss()
    guard configuration.durability == .durable else { return }
    do throws(Errno) {
      try location.handle.descriptor.synchronize()
    } catch {
      throw CacheError(errno: error, operation: "flush", path: location.path)
    }
  }

  /// Ends the engine when its last object is closed.
  func shutDown() throws(CacheError) {
    defer { end() }
    // From here on no store is accepted, and none that has not taken its name yet may publish.
    withState { $0.phase.advance(to: .ending) }
    // While limits are still kept for what it brings.
    writePending()
    if mustFinishScan() {
      do throws(CacheError) {
        try waitForScan()
        enforceLimits(after: nil)
      } catch {
        // The limit is somebody else's to keep then: the next process that scans.
      }
    }
    withState { $0.phase.advance(to: .shutDown) }
    endWatching()
    // What still removes files would remove those of who has the directory next.
    wait { !$0.scans.isOngoing && !$0.clearing.isRunning ? () : nil }
    // A store or removal that has its name goes on, and ends before the lock is given up.
    wait { $0.locks.isEmpty ? () : nil }
    try flush()
  }

  private func end() {
    unlockDirectory()
    let lastStamp = withState { state in
      state.phase.advance(to: .ended)
      return state.uses.lastAccess
    }
    configuration.clock.remember(lastStamp, in: location.handle.identity)
    removals.finish()
    changed.signal()
  }

  /// Gives up the lock, so that the directory can be opened again although somebody still holds the
  /// closed object.
  private func unlockDirectory() {
    guard !isReadOnly else { return }
    do throws(Errno) {
      try location.handle.descriptor.unlock()
    } catch {
      noteUpkeepFailure(error)
    }
  }

  /// Ends the engine when nobody is left to be told of a failure; it is counted.
  func shutDownQuietly() {
    do throws(CacheError) {
      try shutDown()
    } catch {
      noteUpkeepFailure(error.errno ?? .ioError)
    }
  }

  /// Whether the end of the engine waits for the scan; see `RescanSchedule.mustFinishScan`.
  private func mustFinishScan() -> Bool {
    guard !isReadOnly, let limit = configuration.sizeLimit else { return false }
    let chance = Double.random(in: 0..<1)
    return withState { state in
      state.scans.progress == .running
        && state.rescans.mustFinishScan(sizeLimit: limit, chance: chance)
    }
  }
}
