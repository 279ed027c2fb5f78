extension EngineState {
  /// Starts a scan: the first, or a later one that looks for what others did meanwhile.
  ///
  /// - Returns: The scan's number, which ends to count when the directory is replaced.
  /// - Complexity: O(n / 64), under the lock.
  mutating func beginScan() -> Int {
    scanNumber += 1
    ongoingScan = OngoingScan(number: scanNumber, isRescan: isScanned, met: index.emptyMarks())
    // During a later scan the index stays as good as it was: limits are kept and nobody waits.
    if !isScanned { statistics.scan = .running } else { rescans.begin() }
    hasMissedNews = false
    temporaryCount = 0
    changedSinceScan = []
    return scanNumber
  }

  /// Takes in what a scan met, except where this process has changed a name since.
  ///
  /// - Returns: The names known before whose files are others now, or in another state; nil when
  ///   the scan shall not go on.
  mutating func merge(
    _ piece: DirectoryScan.Piece, scan number: Int, at now: Timestamp
  ) -> [EntryName]? {
    guard !isShutDown, var scan = takeScan(number) else { return nil }
    scan.foreignCount += piece.foreignCount
    temporaryCount += piece.temporaries.count
    var news: [EntryName] = []
    for entry in piece.entries {
      index.mark(entry.name, in: &scan.met)
      // What happens meanwhile wins: the scan saw what was before.
      if changedSinceScan?.contains(entry.name) ?? false { continue }
      if hidesFile(named: entry.name) {
        // The evictor judges a victim once more. What a removal of everything hides may have come
        // after its walk, and stay: another scan tells when nothing is hidden.
        if storedSinceClear != nil { hasMissedNews = true }
        continue
      }
      let isKnown = index.contains(entry.name)
      if takeOver(entry, of: entry.name, at: now) && isKnown { news.append(entry.name) }
    }
    ongoingScan = scan
    return news
  }

  /// Takes the scan out of the state, so that changing its marks copies none of them; the caller
  /// puts it back.
  private mutating func takeScan(_ number: Int) -> OngoingScan? {
    guard let scan = ongoingScan, scan.number == number else { return nil }
    ongoingScan = nil
    return scan
  }

  /// The entries in a range of slots that a scan has not met although they were known before; nil
  /// when the range is beyond the last slot or the scan is given up.
  func unmet(in slots: Range<Int>, scan number: Int) -> [EntryName]? {
    guard let scan = ongoingScan, scan.number == number, slots.lowerBound < scan.met.count else {
      return nil
    }
    return index.names(in: slots, lacking: scan.met)
      .filter { !(changedSinceScan?.contains($0) ?? false) }
  }

  /// Forgets an entry whose file is gone, unless this process has changed its name since the scan
  /// began.
  ///
  /// - Returns: Whether it was forgotten.
  mutating func forgetVanished(_ name: EntryName, scan number: Int) -> Bool {
    guard ongoingScan?.number == number, !(changedSinceScan?.contains(name) ?? true) else {
      return false
    }
    pending[name] = nil
    return index.remove(name) != nil
  }

  /// Ends a scan unless another has begun since.
  ///
  /// - Returns: Whether none has.
  mutating func endScan(_ number: Int, _ outcome: DiskStatistics.ScanProgress) -> Bool {
    guard let scan = takeScan(number) else { return false }
    changedSinceScan = nil
    switch (scan.isRescan, outcome) {
    // What the index knows is not worse for a scan that failed; the next one may do better.
    case (true, .failed(let errno)): statistics.upkeepFailures[errno, default: 0] += 1
    case (true, _): break
    case (false, _):
      statistics.scan = outcome
      rescans.begin()
    }
    if outcome == .finished { statistics.foreignCount = scan.foreignCount }
    return true
  }

  /// Forgets everything that was known of the directory, since another is held now.
  mutating func forgetDirectory() {
    term = nil
    mustLock = true
    index.removeAll()
    pending = [:]
    doomed = DoomedFiles()
    toBeCleared = IndexTotals()
    // What is moved away is left alone, and what has taken its place is not what was to be removed.
    storedSinceClear = nil
    restampedSinceClear = [:]
    mustScanAgain()
  }

  /// Takes note that the index no longer says what the directory holds.
  mutating func mustScanAgain() {
    statistics.scan = .notStarted
    ongoingScan = nil
    changedSinceScan = nil
  }
}
