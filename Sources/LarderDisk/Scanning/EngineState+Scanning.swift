import LarderSystem

extension EngineState {
  /// Begins a scan, the first or a later one.
  ///
  /// - Returns: The scan's number, which no longer counts once the directory is replaced.
  /// - Complexity: O(n / 64), under the lock.
  mutating func beginScan() -> Int {
    if isScanned { rescans.restart() }
    return scans.begin(index.emptyMarks())
  }

  /// Takes in what a scan met, except where this process has changed a name since.
  ///
  /// - Returns: The names that were known and have another file now, or their file in another state;
  ///   nil when the scan shall not go on.
  mutating func merge(
    _ piece: DirectoryScan.Piece, scan number: Int, at now: Timestamp
  ) -> [EntryName]? {
    guard !phase.isShutDown, scans.addForeign(piece.foreignCount, scan: number) else { return nil }
    var news: [EntryName] = []
    for entry in piece.entries {
      scans.meet(index.slot(of: entry.name))
      // A later change wins, because the scan may have met the file as it was before.
      if scans.hasChanged(entry.name) { continue }
      if hidesFile(named: entry.name) {
        // The evictor judges a victim once more. A file that a removal of everything hides may have
        // come after its walk, and stay: another scan finds it when nothing is hidden.
        if clearing.hidesFiles { scans.noteMissedNews() }
        continue
      }
      let isKnown = index.contains(entry.name)
      if takeOver(entry, of: entry.name, at: now) && isKnown { news.append(entry.name) }
    }
    return news
  }

  /// The entries in a range of slots that a scan has not met although they were known before; nil
  /// when the range is beyond the last slot or the scan is given up.
  func unmet(in slots: Range<Int>, scan number: Int) -> [EntryName]? {
    guard let met = scans.marks(of: number), slots.lowerBound < met.count else { return nil }
    return index.names(in: slots, lacking: met).filter { !scans.hasChanged($0) }
  }

  /// Forgets an entry whose file is gone, unless this process has changed its name since the scan
  /// began.
  ///
  /// - Returns: Whether it was forgotten.
  mutating func forgetVanished(_ name: EntryName, scan number: Int) -> Bool {
    guard scans.mayForget(name, scan: number) else { return false }
    uses.forget(name)
    return index.remove(name) != nil
  }

  /// Ends a scan unless it was given up before.
  ///
  /// - Returns: The names that it has noted, which the caller releases outside of the lock.
  mutating func endScan(_ number: Int, _ outcome: DiskStatistics.ScanProgress) -> NameSet? {
    guard let ending = scans.end(number, outcome) else { return nil }
    if !ending.isRescan { rescans.restart() }
    if ending.isRescan, case .failed(let errno) = outcome {
      counters.countUpkeepFailure(errno)
    }
    return ending.remains
  }

  /// Forgets everything that was known of the directory, since another is held now.
  mutating func forgetDirectory() {
    _ = evictions.takeTerm()
    mustLock = true
    replacementCount += 1
    index.removeAll()
    uses.forgetAll()
    doomed = DoomedFiles()
    // The directory that was moved away is left alone, and the one in its place was not to be
    // cleared.
    clearing.reveal()
    scans.reset()
  }

  /// Counts a store whose file is not, or may not be, in the directory that is held now.
  mutating func noteAstray(_ entry: IndexedEntry) {
    uses.forget(entry.name)
    scans.noteChange(of: entry.name)
    counters.countStore(of: entry.byteCount)
  }

  /// What tells that everything known of every name has been given up since.
  var epoch: Epoch { Epoch(clearCount: clearing.count, replacementCount: replacementCount) }

  struct Epoch: Sendable, Equatable {
    /// How often everything had been removed.
    let clearCount: Int
    /// How often the directory had been replaced.
    let replacementCount: Int
  }
}
