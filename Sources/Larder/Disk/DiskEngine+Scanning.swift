extension DiskEngine {
  /// Starts the scan of the directory in the background unless it has run or is running.
  func startScanIfNeeded() {
    let mustStart = withState { state in
      switch state.statistics.scan {
      case .running, .finished: return false
      case .notStarted, .failed:
        state.beginScan()
        return true
      }
    }
    if mustStart { IOExecutor.upkeep.submit { self.scan() } }
  }

  /// Waits until the index knows every entry.
  func waitForScan() throws(CacheError) {
    startScanIfNeeded()
    let failure: Errno? = wait { state in
      switch state.statistics.scan {
      case .finished: .some(nil)
      case .failed(let errno): .some(errno)
      case .running: nil
      // The directory was replaced: another scan is about to start.
      case .notStarted: .some(nil)
      }
    }
    if let failure { throw CacheError(failure, operation: "scan", path: location.path) }
  }

  private func scan() {
    do throws(Errno) {
      let handle = location.handle
      var scan = try DirectoryScan(handle, trust: reader.trust)
      while true {
        let piece = try scan.next()
        let mayGoOn = withState { $0.merge(piece) }
        if !isReadOnly { removeLeftovers(piece.temporaries, in: handle) }
        if piece.isLast || !mayGoOn { break }
      }
      withState { $0.endScan(.finished) }
    } catch {
      withState { $0.endScan(.failed(error)) }
    }
    changed.signal()
    if !isReadOnly {
      sweep()
      enforceLimits(after: nil)
      planSweeps()
    }
  }

  /// Removes temporaries whose writer is gone: those that can be locked.
  private func removeLeftovers(_ names: [FileName], in handle: DirectoryHandle) {
    for name in names {
      do throws(Errno) {
        let file = try handle.openForReading(name)
        let status = try file.status()
        guard status.isRegular, try file.tryLock(.exclusive) else { continue }
        // The name may have gone to another file between the opening and the lock.
        guard try handle.status(of: name).identity == status.identity else { continue }
        try handle.unlink(name)
        withState { $0.temporaryCount -= 1 }
      } catch {
        // Published or removed meanwhile, or not ours to remove.
      }
    }
  }

  /// After another directory was found in the place of the one that was held: everything known is
  /// of the other.
  func directoryChanged() {
    withState { $0.forgetDirectory() }
    changed.signal()
  }
}

extension EngineState {
  mutating func beginScan() {
    statistics.scan = .running
    statistics.foreignCount = 0
    temporaryCount = 0
    changedSinceScan = []
  }

  /// Takes in what a scan met, except where this process has changed a name since.
  ///
  /// - Returns: Whether the scan shall go on.
  mutating func merge(_ piece: DirectoryScan.Piece) -> Bool {
    statistics.foreignCount += piece.foreignCount
    temporaryCount += piece.temporaries.count
    for entry in piece.entries where isNews(entry) {
      index.upsert(entry, order: .byLastAccess)
    }
    return !isShutDown && statistics.scan == .running
  }

  private func isNews(_ entry: IndexedEntry) -> Bool {
    let name = entry.name
    if changedSinceScan?.contains(name) ?? false { return false }
    if hidesFile(named: name) { return false }
    guard let known = index.entry(named: name) else { return true }
    return known.inode != entry.inode || known.changeTime != entry.changeTime
  }

  mutating func endScan(_ outcome: DiskStatistics.ScanProgress) {
    if statistics.scan == .running { statistics.scan = outcome }
    changedSinceScan = nil
    unscannedByteCount = 0
  }

  mutating func forgetDirectory() {
    index.removeAll()
    pending = [:]
    doomed = [:]
    doomedByteCount = 0
    statistics.scan = .notStarted
  }
}
