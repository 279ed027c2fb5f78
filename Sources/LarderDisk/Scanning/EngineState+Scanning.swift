import LarderSystem

extension EngineState {
  /// Begins a scan, the first or a later one.
  ///
  /// - Returns: The scan's number, which no longer counts once the directory is replaced.
  mutating func beginScan() -> Int { catalog.scans.begin() }

  /// Notes that a scan reads its first name, after the directory is watched. Whatever is known by
  /// then may be gone, also what reads have brought since the scan began.
  ///
  /// - Complexity: O(n / 64), under the lock.
  mutating func beginReading(scan number: Int) {
    catalog.scans.beginReading(number, catalog.index.emptyMarks())
  }

  /// Takes over the entries that a scan met, except those whose names this process has changed
  /// since.
  ///
  /// - Returns: The names of which memory may have an older value: those that have another file
  ///   now, or their file in another state; nil if the scan must not go on.
  mutating func merge(
    _ piece: DirectoryScan.Piece, scan number: Int, at now: Timestamp
  ) -> [EntryName]? {
    guard !phase.isShutDown, catalog.scans.addForeign(piece.foreignCount, scan: number) else {
      return nil
    }
    var changedNames: [EntryName] = []
    let isFirst = catalog.scans.isFirst(number)
    for entry in piece.entries {
      catalog.scans.meet(catalog.index.slot(of: entry.name))
      // This process changed or used the name during the scan, so the index stands. If the scanned
      // file is another or in another state, it may be newer (stored by another process just after
      // a removal here, or touched after a read opened it), so the name is checked at the end.
      if catalog.scans.hasChanged(entry.name) {
        let known = catalog.index.entry(named: entry.name)
        let isKnown = known?.inode == entry.inode && known?.changeTime == entry.changeTime
        if !isKnown { noteDifference(of: entry.name) }
        continue
      }
      // The thread that holds the name looks again once it has told the index what it did.
      if locks.held.contains(entry.name) { locks.mark(entry.name) }
      if hidesFile(named: entry.name) {
        noteHidden()
        continue
      }
      // After the first scan, memory may also have the value of an entry that a limit has evicted.
      let mayBeInMemory = !isFirst || catalog.index.contains(entry.name)
      if takeOver(entry, of: entry.name, at: now) && mayBeInMemory {
        changedNames.append(entry.name)
      }
    }
    return changedNames
  }

  /// Notes a file of a changed name that the index does not know.
  private mutating func noteDifference(of name: EntryName) {
    if hidesFile(named: name) {
      noteHidden()
    } else {
      catalog.scans.noteUnclear(name)
    }
  }

  /// Notes a file that is hidden. During a removal of everything it may be new and survive, so
  /// another scan follows when nothing is hidden.
  private mutating func noteHidden() { catalog.scans.noteMissedChanges() }

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

  /// Ends a scan unless it was given up before.
  ///
  /// - Returns: The names that it has noted, which the caller releases outside of the lock.
  mutating func endScan(_ number: Int, _ outcome: DiskStatistics.ScanProgress) -> NameSet? {
    guard let ending = catalog.scans.end(number, outcome) else { return nil }
    if ending.isRescan, case .failed(let errno) = outcome {
      counters.countUpkeepFailure(errno)
    }
    return ending.remains
  }
}
