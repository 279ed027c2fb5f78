package import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Starts the scan of the directory in the background unless it has run or is running.
  func startScanIfNeeded() {
    // The scan may have been that of an object that does not follow.
    if startScan(again: false) == .finished, followsNeighbours { startWatching() }
  }

  /// Starts the first scan in the background, or another one, once the first is over. If one is
  /// going on, it may have passed over the change, so another follows it.
  ///
  /// - Returns: The progress of the first scan so far.
  @discardableResult
  func startScan(again: Bool = true) -> DiskStatistics.ScanProgress {
    let (progress, number) = withState { state in
      if again, state.catalog.scans.isOngoing { state.catalog.scans.hasMissedChanges = true }
      let isDue = again ? state.catalog.scans.mayRescan : state.catalog.scans.needsScan
      let mayBegin = isDue && !state.phase.isShutDown
      return (state.catalog.scans.progress, mayBegin ? state.catalog.scans.begin() : nil)
    }
    if let number { runAside { self.scan(number) } }
    return progress
  }

  /// Waits until the index knows every entry.
  package func waitForScan(_ operation: String = "scan") throws(CacheError) {
    try revalidate(isUrgent: false, mayMake: false, operation)
    while true {
      startScanIfNeeded()
      let (progress, isShutDown) = wait { state in
        let progress = state.catalog.scans.progress
        return progress == .running ? nil : (progress, state.phase.isShutDown)
      }
      if progress == .finished { return }
      if case .failed(let errno) = progress {
        throw CacheError(errno: errno, operation: "scan", path: location.path)
      }
      // The directory was replaced while it was read. Scans again unless the engine is ending.
      if isShutDown { throw closedError("scan") }
    }
  }

  private func scan(_ number: Int) {
    let start = MonotonicTime.now
    defer { withState { $0.catalog.scans.rescans.endScan(from: start, to: .now) } }
    // The first scan of all, which may fail or be given up.
    if number == 1, !isReadOnly { planSweep() }
    // Before the first name is read, so that no change falls between the scan and the events.
    if followsNeighbours { startWatching() }
    let isFirst = withState { state in
      state.catalog.scans.beginReading(number, state.catalog.index.emptyMarks())
      return !state.isScanned
    }
    do throws(Errno) {
      guard let foreignCount = try readNames(number, in: location.handle) else {
        endScan(number, .notStarted)
        return
      }
      forgetVanished(number)
      // The first scan counts as running until then, so that no total includes expired entries.
      // A later one leaves them to the sweeps.
      if isFirst, !isReadOnly, !isAstray || location.isAtPath { sweep() }
      endScan(number, .finished, foreignCount: foreignCount)
    } catch {
      endScan(number, .failed(error))
      // After the first scan, the next call that needs the index tries again, and after a later
      // one a timer does. Trying again at once might never end.
      if !isFirst { runLater(after: configuration.rescanDelay) { $0.startScan() } }
      return
    }
    rescanIfMissed()
  }

  /// Starts another scan if the latest one has missed changes. During a removal of everything it
  /// would miss the same; the end of the removal starts it.
  func rescanIfMissed() {
    if withState({ $0.catalog.scans.hasMissedChanges && !$0.clearing.hidesFiles }) { startScan() }
  }

  /// The names that a scan merges in one hold of 20 µs. With 512 a read waits for 0.6 ms.
  private static let pieceCount = 16

  /// Reads all names and merges them into the index.
  ///
  /// - Returns: The number of things that are not the cache's; nil if the scan was given up.
  private func readNames(_ number: Int, in handle: DirectoryHandle) throws(Errno) -> Int? {
    var scan = try DirectoryScan(handle, trust: reader.trust, generations)
    var (unreadable, foreignCount) = ([EntryName](), 0)
    while true {
      let piece = try scan.next(atMost: Self.pieceCount)
      guard takeOver(piece, number) else { return nil }
      if !isReadOnly {
        StagedFile.removeLeftovers(piece.temporaries, in: handle) {
          let now = self.now
          return withState { $0.serverClock.time(toJudge: now, at: now) }
        }
      }
      foreignCount += piece.foreign.count
      unreadable += piece.unreadable.map(\.name)
      if piece.isLast { break }
    }
    // Read a second time. An entry that fails again is not in the index until it is read or stored.
    let piece = try scan.look(at: unreadable)
    for (_, errno) in piece.unreadable { noteUpkeepFailure(errno) }
    if !piece.unreadable.isEmpty { withState { $0.catalog.scans.hasLeftOut = true } }
    return takeOver(piece, number) ? foreignCount + piece.foreign.count : nil
  }

  /// Takes over a piece; returns whether the scan goes on.
  private func takeOver(_ piece: DirectoryScan.Piece, _ number: Int) -> Bool {
    learn(
      zip(piece.entries, piece.generations).lazy.map {
        Finding(name: $0.name, met: $0, evidence: .scan(number), generation: $1)
      })
    return withState { !$0.phase.isShutDown && $0.catalog.scans.isOngoing(number) }
  }

  /// The number of slots that are looked through under one lock.
  private static let slotCount = 4096

  /// Forgets entries that were known before the scan and whose names have no entry's file any more.
  /// Looks also at those that have changed since, because the change may be a use by a read that
  /// opened the file before it was removed.
  private func forgetVanished(_ number: Int) {
    for start in stride(from: 0, to: .max, by: Self.slotCount) {
      let names = withState { state -> [EntryName]? in
        guard let met = state.catalog.scans.marks(of: number), start < met.count else { return nil }
        return state.catalog.index.names(in: start..<start + Self.slotCount, lacking: met)
      }
      guard let names else { return }
      for name in names {
        do throws(Errno) {
          let status = try location.handle.statusIfPresent(of: name.fileName)
          if status.flatMap({ reader.trust.entry(name, $0) }) == nil { lookAgain(at: name) }
        } catch {
          // The file is there, although its status cannot be read now.
        }
      }
    }
  }

  /// Ends a scan, also one in vain, whose end can begin a purge too.
  private func endScan(
    _ number: Int, _ outcome: DiskStatistics.ScanProgress, foreignCount: Int = 0
  ) {
    let mustCheck = withState { [configuration] in
      $0.endScan(number, outcome, foreignCount: foreignCount, configuration)
    }
    changed.signal()
    if mustCheck { checkLimits() }
  }

  /// Starts anew after another directory was found in the place of that of which all is known.
  func directoryChanged() {
    writer.directoryChanged()
    // The watch moves first, so that no change in the new directory from here on is missed.
    followDirectory()
    // A read in the earlier directory must leave nothing in memory or in the index.
    generations.changingAll {
      _ = withState { $0.forgetDirectory() }
      tellOfAnyChange()
    }
    changed.signal()
  }

  /// Scans again after a store if there are no events and this process has stored so much that
  /// neighbours may have done so as well. Also plans a scan for after the last store.
  func rescanIfDue() {
    guard followsNeighbours, !hasEvents, !isReadOnly else { return }
    let now = MonotonicTime.now
    let (isDue, mustPlan) = withState { state in
      let (scans, mayPlan) = (state.catalog.scans, state.isScanned || configuration.hasLimit)
      let isDue = scans.mayRescan && scans.rescans.isDue(configuration, at: now)
      return (isDue, mayPlan && state.catalog.scans.rescans.planLook(afterStoreAt: now))
    }
    if isDue { startScan() }
    if mustPlan { planRescan(after: configuration.rescanDelay) }
  }

  /// Scans if nothing was stored for `rescanDelay` by then; otherwise waits for the rest of it.
  private func planRescan(after delay: Duration) {
    runLater(after: delay) { engine in
      let (delay, now) = (engine.configuration.rescanDelay, MonotonicTime.now)
      let rest = engine.withState { $0.catalog.scans.rescans.rest(of: delay, at: now) }
      guard let rest else { return }
      if rest > .zero { engine.planRescan(after: rest) } else { engine.startScan() }
    }
  }
}
