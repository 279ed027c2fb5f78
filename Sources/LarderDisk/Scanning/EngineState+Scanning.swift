import LarderSystem

extension EngineState {
  /// Begins a scan, the first or a later one.
  ///
  /// - Returns: The scan's number, which no longer counts once the directory is replaced.
  /// - Complexity: O(n / 64), under the lock.
  mutating func beginScan() -> Int {
    scans.begin(index.emptyMarks())
  }

  /// Takes over the entries that a scan met, except those whose names this process has changed
  /// since.
  ///
  /// - Returns: The known names that have another file now, or their file in another state; nil if
  ///   the scan must not go on.
  mutating func merge(
    _ piece: DirectoryScan.Piece, scan number: Int, at now: Timestamp
  ) -> [EntryName]? {
    guard !phase.isShutDown, scans.addForeign(piece.foreignCount, scan: number) else { return nil }
    var news: [EntryName] = []
    for entry in piece.entries {
      scans.meet(index.slot(of: entry.name))
      // A later change wins, because the scan may have met the file as it was before.
      if scans.hasChanged(entry.name) { continue }
      // The thread that holds the name looks again once it has told the index what it did.
      if locks.held.contains(entry.name) { locks.leaveNews(of: entry.name) }
      if hidesFile(named: entry.name) {
        // The evictor looks at a victim once more. A file that a removal of everything hides may
        // have come after that removal's walk and stay; another scan finds it when nothing is
        // hidden.
        if clearing.hidesFiles { scans.noteMissedNews() }
        continue
      }
      let isKnown = index.contains(entry.name)
      if takeOver(entry, of: entry.name, at: now) && isKnown { news.append(entry.name) }
    }
    return news
  }

  /// Returns the entries in a range of slots that were known before a scan and that it has not met;
  /// nil if the range is beyond the last slot or the scan was given up.
  func unmet(in slots: Range<Int>, scan number: Int) -> [EntryName]? {
    guard let met = scans.marks(of: number), slots.lowerBound < met.count else { return nil }
    return index.names(in: slots, lacking: met).filter { !scans.hasChanged($0) }
  }

  /// Ends a scan unless it was given up before.
  ///
  /// - Returns: The names that it has noted, which the caller releases outside of the lock.
  mutating func endScan(_ number: Int, _ outcome: DiskStatistics.ScanProgress) -> NameSet? {
    guard let ending = scans.end(number, outcome) else { return nil }
    if ending.isRescan, case .failed(let errno) = outcome {
      counters.countUpkeepFailure(errno)
    }
    return ending.remains
  }

  /// Forgets everything that was known of the directory, because another is held now.
  mutating func forgetDirectory() {
    _ = evictions.abandonTerm()
    held.replace()
    index.removeAll()
    uses.forgetAll()
    doomed = DoomedFiles()
    // The directory that was moved away is left alone, and the removal was not meant for the one in
    // its place.
    clearing.reveal()
    scans.reset()
  }

  /// Counts a store that did not, or may not, reach the directory that is held now.
  mutating func noteAstray(_ entry: IndexedEntry) {
    uses.forget(entry.name)
    scans.noteChange(of: entry.name)
    counters.countStore(of: entry.byteCount)
  }
}
