package import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Starts the scan of the directory in the background unless it has run or is running.
  func startScanIfNeeded() {
    let (number, isScanned) = withState { state in
      (state.catalog.scans.needsScan ? state.catalog.scans.begin() : nil, state.isScanned)
    }
    if let number { runAside { self.scan(number) } }
    // The scan may have been that of an object that does not follow.
    if isScanned && followsNeighbours { startWatching() }
  }

  /// Starts another scan in the background, once the first is over. If one is going on, it may have
  /// passed over the change, so another follows it.
  func startRescan() {
    let number: Int? = withState { state in
      if state.catalog.scans.isOngoing { state.catalog.scans.noteMissedChanges() }
      guard state.catalog.scans.mayRescan, !state.phase.isShutDown else { return nil }
      return state.catalog.scans.begin()
    }
    if let number { runAside { self.scan(number) } }
  }

  /// Waits until the index knows every entry.
  package func waitForScan() throws(CacheError) {
    followReplacement()
    while true {
      startScanIfNeeded()
      let (outcome, isShutDown) = wait { state in
        state.catalog.scans.progress == .running
          ? nil : (state.catalog.scans.progress, state.phase.isShutDown)
      }
      switch outcome {
      case .finished: return
      case .failed(let errno):
        throw CacheError(errno: errno, operation: "scan", path: location.path)
      // The directory was replaced while it was read. Scans again unless the engine is ending.
      case .notStarted, .running:
        if isShutDown { throw closedError("scan") }
      }
    }
  }

  private func scan(_ number: Int) {
    var isComplete = false
    let start = MonotonicTime.now
    defer { withState { $0.catalog.scans.rescans.endScan(from: start, to: .now) } }
    // Before the first name is read, so that no change falls between the scan and the events.
    if followsNeighbours { startWatching() }
    withState { $0.beginReading(scan: number) }
    do throws(Errno) {
      let handle = location.handle
      isComplete = try readNames(number, in: handle)
      if isComplete {
        forgetVanished(number, in: handle)
        // The first scan counts as running until then, so that no total includes expired entries.
        // A later one leaves them to the sweeps.
        if !isReadOnly, withState({ $0.catalog.scans.isFirst(number) }) { sweep() }
      }
      endScan(number, isComplete ? .finished : .notStarted)
    } catch {
      // After the first scan, the next call that needs the index tries again, and after a later
      // one a timer does. Trying again at once might never end.
      isComplete = false
      endScan(number, .failed(error))
      if withState({ $0.catalog.scans.isComplete }) {
        runLater(after: configuration.rescanDelay) { $0.startRescan() }
      }
    }
    guard isComplete else { return }
    if !isReadOnly {
      // A trim that waited for the scan removes the same or more, and reports it.
      if withState({ !$0.evictions.hasWaitingTrim }) { checkLimits() }
      planSweeps()
    }
    rescanIfMissed()
  }

  /// Starts another scan if the latest one has missed changes. During a removal of everything it
  /// would miss the same; the end of the removal starts it.
  func rescanIfMissed() {
    if withState({ $0.catalog.scans.hasMissedChanges && !$0.clearing.hidesFiles }) { startRescan() }
  }

  /// The time without a use after which a scan merges large pieces again.
  private static let quietTime = Duration.milliseconds(10)

  /// Reads all names and merges them into the index.
  ///
  /// - Returns: Whether the scan came to the end and its directory is still held.
  private func readNames(_ number: Int, in handle: DirectoryHandle) throws(Errno) -> Bool {
    var scan = try DirectoryScan(handle, trust: reader.trust)
    var unreadable: [EntryName] = []
    var useCount = withState { $0.counters.hits + $0.counters.stores }
    var lastUse: MonotonicTime?
    while true {
      let piece = try scan.next(
        atMost: lastUse == nil ? DirectoryScan.pieceCount : DirectoryScan.smallPieceCount)
      guard let count = takeOver(piece, number) else { return false }
      if count > useCount {
        lastUse = .now
      } else if let use = lastUse, MonotonicTime.now.duration(since: use) > Self.quietTime {
        lastUse = nil
      }
      useCount = count
      if !isReadOnly { removeLeftovers(piece.temporaries, in: handle) }
      unreadable += piece.unreadable.map(\.name)
      if piece.isLast { break }
    }
    return try readAgain(unreadable, number, in: handle)
  }

  /// Reads a second time the status of names for which it failed. A second failure is counted, and
  /// the name is not in the index until it is read or stored.
  private func readAgain(
    _ names: [EntryName], _ number: Int, in handle: DirectoryHandle
  ) throws(Errno) -> Bool {
    var piece = DirectoryScan.Piece()
    for name in names { try piece.add(name, name.fileName, in: handle, trust: reader.trust) }
    for (_, errno) in piece.unreadable { noteUpkeepFailure(errno) }
    return takeOver(piece, number) != nil
  }

  /// Takes over a piece.
  ///
  /// - Returns: The number of uses so far; nil if the scan must not go on.
  private func takeOver(_ piece: DirectoryScan.Piece, _ number: Int) -> Int? {
    learn(piece.entries.lazy.map { Finding(name: $0.name, met: $0, evidence: .scan(number)) })
    return withState { state in
      let goesOn =
        !state.phase.isShutDown && state.catalog.scans.addForeign(piece.foreignCount, scan: number)
      return goesOn ? state.counters.hits + state.counters.stores : nil
    }
  }

  /// The number of slots that are looked through under one lock.
  private static let slotCount = 4096

  /// Forgets the entries that were known before the scan and have no file any more.
  private func forgetVanished(_ number: Int, in handle: DirectoryHandle) {
    var start = 0
    while let names = withState({ $0.unmet(in: start..<start + Self.slotCount, scan: number) }) {
      for name in names {
        do throws(Errno) {
          guard try handle.statusIfPresent(of: name.fileName) == nil else { continue }
          lookAgain(at: name)
        } catch {
          // The file is there, although its status cannot be read now.
        }
      }
      start += Self.slotCount
    }
  }

  /// Ends a scan. If it shows that a limit is exceeded, the purge begins in the same step, so that
  /// totals wait for it. A caller's trim that waits for the scan removes the same or more, and
  /// reports it.
  private func endScan(_ number: Int, _ outcome: DiskStatistics.ScanProgress) {
    _ = withState { [configuration, isReadOnly] state in
      let remains = state.endScan(number, outcome)
      if !isReadOnly, !state.evictions.hasWaitingTrim {
        state.beginPurge(configuration, sparing: nil)
      }
      return remains
    }
    changed.signal()
  }

  /// Removes the temporaries of writers that are gone, which are those that can be locked.
  private func removeLeftovers(_ names: [FileName], in handle: DirectoryHandle) {
    for name in names {
      do throws(Errno) {
        let file = try handle.openForReading(name)
        let status = try file.status()
        guard status.isRegular, isLeftBehind(status), try file.tryLock(.exclusive) else {
          continue
        }
        // The name may have passed to another file between the opening and the lock.
        guard try handle.status(of: name).identity == status.identity else { continue }
        try handle.unlink(name)
      } catch {
        // Published or removed meanwhile, or not removable by this process.
      }
    }
  }

  /// Whether a temporary that can be locked may have been left behind.
  ///
  /// On a network file system it must have been unchanged for an hour in two cases: if another
  /// machine's lock may not show, and if it is empty. A writer locks its file before the first
  /// byte, and MooseFS shows the links that a file had when it was made, so the writer would not
  /// see that its file was removed before the lock.
  private func isLeftBehind(_ status: FileStatus) -> Bool {
    let fileSystem = self.fileSystem
    if !fileSystem.isNetwork { return true }
    if fileSystem.sharesFileLocks && status.byteCount > 0 { return true }
    let now = withState { [now] in $0.serverClock.time(toJudge: now, at: now) }
    return now.duration(since: status.change) > .seconds(3600)
  }

  /// Starts anew after another directory was found in the place of the one that was held, because
  /// everything known is of the earlier one.
  func directoryChanged() {
    follow(fileSystem)
    // The watch moves first, so that no change in the new directory from here on is missed.
    followDirectory()
    // A read in the earlier directory must leave nothing in memory or in the index.
    generations.beginAll()
    // Released outside of the lock, because that takes long.
    let isUnsafe = location.isUnsafe
    _ = withState { state in
      state.counters.isDirectoryUnsafe = isUnsafe
      let old = state.catalog
      state.forgetDirectory()
      return old
    }
    tellOfAnyChange()
    generations.endAll()
    changed.signal()
  }
}

// Scans in the place of events.
extension DiskEngine {
  /// Whether scans take the place of events.
  private var mustRescan: Bool { followsNeighbours && !hasEvents && !isReadOnly }

  /// Scans again after a store if there are no events and this process has stored so much that
  /// neighbours may have done so as well. Also plans a scan for after the last store.
  func rescanIfDue() {
    guard mustRescan else { return }
    let now = MonotonicTime.now
    let (isDue, mustPlan) = withState { state in
      let isDue =
        state.catalog.scans.mayRescan
        && state.catalog.scans.rescans.isDue(
          sizeLimit: configuration.sizeLimit, countLimit: configuration.countLimit, at: now)
      return (isDue, state.catalog.scans.rescans.planLook(afterStoreAt: now))
    }
    if isDue { startRescan() }
    if mustPlan { planRescan(after: configuration.rescanDelay) }
  }

  private func planRescan(after delay: Duration) {
    runLater(after: delay) { $0.rescanAfterLastStore() }
  }

  /// Scans if nothing was stored for `rescanDelay`; otherwise waits for the rest of that time.
  private func rescanAfterLastStore() {
    let now = MonotonicTime.now
    let rest = withState { state in
      state.phase.isShutDown
        ? nil : state.catalog.scans.rescans.rest(of: configuration.rescanDelay, at: now)
    }
    guard let rest else { return }
    if rest > .zero { return planRescan(after: rest) }
    startRescan()
  }
}

extension EngineState {
  /// Notes that a scan reads its first name, after the directory is watched. Whatever is known by
  /// then may be gone, also what reads have brought since the scan began.
  ///
  /// - Complexity: O(n), under the lock, for a byte each that is set to zero.
  mutating func beginReading(scan number: Int) {
    catalog.scans.beginReading(number, catalog.index.emptyMarks())
  }

  /// Returns the entries in a range of slots that were known before a scan and that it has not met;
  /// nil if the range is beyond the last slot or the scan was given up.
  ///
  /// Those that have changed since are among them, because the change may be a use by a read that
  /// opened the file before it was removed.
  func unmet(in slots: Range<Int>, scan number: Int) -> [EntryName]? {
    guard let met = catalog.scans.marks(of: number), slots.lowerBound < met.count else {
      return nil
    }
    return catalog.index.names(in: slots, lacking: met)
  }

  /// Ends a scan unless it was given up before. The failure of a later one is counted.
  ///
  /// - Returns: The names that it has noted, which the caller releases outside of the lock.
  mutating func endScan(_ number: Int, _ outcome: DiskStatistics.ScanProgress) -> NameMap<Void>? {
    if isScanned, catalog.scans.isOngoing(number), case .failed(let errno) = outcome {
      counters.upkeepFailures[errno, default: 0] += 1
    }
    return catalog.scans.end(number, outcome)
  }
}
