extension DiskEngine {
  /// Starts the scan of the directory in the background unless it has run or is running.
  func startScanIfNeeded() {
    let number: Int? = withState { state in
      switch state.statistics.scan {
      case .running, .finished: nil
      case .notStarted, .failed: state.beginScan()
      }
    }
    if let number { IOExecutor.upkeep.submit { self.scan(number) } }
  }

  /// Waits until the index knows every entry.
  ///
  /// What waits to be written is written first, so that totals tell of it.
  func waitForScan() throws(CacheError) {
    writePending()
    followReplacement()
    while true {
      startScanIfNeeded()
      let (outcome, isShutDown) = wait { state in
        state.statistics.scan == .running ? nil : (state.statistics.scan, state.isShutDown)
      }
      switch outcome {
      case .finished: return
      case .failed(let errno):
        throw CacheError(errno: errno, operation: "scan", path: location.path)
      // The directory was replaced while it was read: once more, unless nobody is left to know.
      case .notStarted, .running:
        if isShutDown { throw CacheError(.closed, operation: "scan", path: location.path) }
      }
    }
  }

  private func scan(_ number: Int) {
    var isComplete = false
    do throws(Errno) {
      let handle = location.handle
      isComplete = try readNames(number, in: handle)
      if isComplete { forgetVanished(in: handle) }
      endScan(number, isComplete ? .finished : .notStarted)
    } catch {
      // The next who asks tries again; trying at once could go on for ever.
      isComplete = false
      endScan(number, .failed(error))
    }
    guard isComplete && !isReadOnly else { return }
    runEvictor()
    // A trim that waited for the scan removes more or the same, and reports it.
    if withState({ $0.trimsWaiting == 0 }) { enforceLimits(after: nil) }
    planSweeps()
  }

  /// Takes in all names.
  ///
  /// - Returns: Whether it came to the end and the directory is still the one that is held.
  private func readNames(_ number: Int, in handle: DirectoryHandle) throws(Errno) -> Bool {
    var scan = try DirectoryScan(handle, trust: reader.trust)
    var unreadable: [EntryName] = []
    while true {
      let piece = try scan.next()
      let now = self.now
      guard withState({ $0.merge(piece, scan: number, at: now) }) else { return false }
      if !isReadOnly { removeLeftovers(piece.temporaries, in: handle) }
      unreadable += piece.unreadable.map(\.name)
      if piece.isLast { break }
    }
    return try lookAgain(at: unreadable, number, in: handle)
  }

  /// Looks a second time at the names whose status could not be had; what fails again is counted,
  /// and is no entry of the index until somebody reads or stores it.
  private func lookAgain(
    at names: [EntryName], _ number: Int, in handle: DirectoryHandle
  ) throws(Errno) -> Bool {
    var piece = DirectoryScan.Piece()
    for name in names { try piece.add(name, name.fileName, in: handle, trust: reader.trust) }
    for (_, errno) in piece.unreadable { noteUpkeepFailure(errno) }
    return withState { [now] in $0.merge(piece, scan: number, at: now) }
  }

  /// Forgets the entries known from before whose files others have removed.
  private func forgetVanished(in handle: DirectoryHandle) {
    for name in withState({ $0.unseen }) {
      do throws(Errno) {
        _ = try handle.status(of: name.fileName)
      } catch .noSuchFile {
        withState { state in
          if !(state.changedSinceScan?.contains(name) ?? true) { state.index.remove(name) }
        }
      } catch {
        // It is there, though it cannot be looked at now.
      }
    }
  }

  /// Ends a scan, and takes out what has expired in the same step, so that no total shows it.
  private func endScan(_ number: Int, _ outcome: DiskStatistics.ScanProgress) {
    let plan = backgroundSweepPlan()
    withState { state in
      let isCurrent = state.endScan(number, outcome)
      // Who asked for a trim takes and reports the expired entries himself.
      let isDue = isCurrent && outcome == .finished && state.trimsWaiting == 0
      if isDue && !isReadOnly && !state.isShutDown { state.evict(plan) }
    }
    changed.signal()
  }

  /// Removes temporaries whose writer is gone: those that can be locked.
  private func removeLeftovers(_ names: [FileName], in handle: DirectoryHandle) {
    for name in names {
      do throws(Errno) {
        let file = try handle.openForReading(name)
        let status = try file.status()
        guard status.isRegular, isLeftBehind(status), try file.tryLock(.exclusive) else {
          continue
        }
        // The name may have gone to another file between the opening and the lock.
        guard try handle.status(of: name).identity == status.identity else { continue }
        try handle.unlink(name)
        withState { $0.temporaryCount -= 1 }
      } catch {
        // Published or removed meanwhile, or not ours to remove.
      }
    }
  }

  /// Whether a temporary can be one that was left behind: on a network file system, where another
  /// machine's lock may not show, one that nobody has touched for an hour.
  private func isLeftBehind(_ status: FileStatus) -> Bool {
    guard fileSystem.isNetwork else { return true }
    let now = withState { [now] in $0.serverClock.time(toJudge: now, at: now) }
    return now.duration(since: status.change) > .seconds(3600)
  }

  /// After another directory was found in the place of the one that was held: everything known is
  /// of the other.
  func directoryChanged() {
    withState { $0.forgetDirectory() }
    changed.signal()
  }
}

extension EngineState {
  /// Starts a scan.
  ///
  /// - Returns: The scan's number, which ends to count when the directory is replaced.
  mutating func beginScan() -> Int {
    scanNumber += 1
    statistics.scan = .running
    statistics.foreignCount = 0
    temporaryCount = 0
    changedSinceScan = []
    unseen = Set(index.entriesInOrder().map(\.name))
    return scanNumber
  }

  /// Takes in what a scan met, except where this process has changed a name since.
  ///
  /// - Returns: Whether the scan shall go on.
  mutating func merge(
    _ piece: DirectoryScan.Piece, scan number: Int, at now: Timestamp
  ) -> Bool {
    guard !isShutDown, isRunning(number) else { return false }
    statistics.foreignCount += piece.foreignCount
    temporaryCount += piece.temporaries.count
    for var entry in piece.entries {
      unseen.remove(entry.name)
      guard isNews(entry) else { continue }
      // An access in the future counts as one now, or it would be the last ever to go. Uses within
      // one instant are told apart by nanoseconds beyond it, which is not yet the future.
      if entry.lastAccess >= now.adding(seconds: 1) { entry.lastAccess = now }
      index.upsert(entry, order: .byLastAccess)
    }
    return true
  }

  private func isRunning(_ number: Int) -> Bool {
    number == scanNumber && statistics.scan == .running
  }

  private func isNews(_ entry: IndexedEntry) -> Bool {
    let name = entry.name
    if changedSinceScan?.contains(name) ?? false { return false }
    if hidesFile(named: name) { return false }
    guard let known = index.entry(named: name) else { return true }
    return known.inode != entry.inode || known.changeTime != entry.changeTime
  }

  /// Ends a scan unless another has begun since.
  ///
  /// - Returns: Whether none has.
  mutating func endScan(_ number: Int, _ outcome: DiskStatistics.ScanProgress) -> Bool {
    guard isRunning(number) else { return false }
    statistics.scan = outcome
    changedSinceScan = nil
    unseen = []
    unscannedByteCount = 0
    return true
  }

  mutating func forgetDirectory() {
    mustLock = true
    index.removeAll()
    pending = [:]
    doomed = DoomedFiles()
    mustScanAgain()
  }

  /// Takes note that the index no longer says what the directory holds.
  mutating func mustScanAgain() {
    statistics.scan = .notStarted
    changedSinceScan = nil
    unseen = []
  }
}
