import LarderSystem

/// The progress of a directory's scans, and the names that changed during them.
///
/// The first scan fills the index. Later ones look for changes by other processes; the index stays
/// as good as it was during them, so totals and limits need not wait. A name that this process
/// changes during a scan is noted, because the scan may have met the older file.
struct ScanLog: Sendable {
  /// The progress of the scan that fills the index.
  private(set) var progress = DiskStatistics.ScanProgress.notStarted
  /// The number of things in the directory that are not the cache's, as of the last finished scan.
  private(set) var foreignCount = 0
  /// The number of the latest scan.
  private(set) var number = 0
  /// Whether something happened that the latest scan may have passed over.
  private(set) var hasMissedChanges = false
  /// The times at which the directory is scanned again where no events report changes.
  var rescans = RescanSchedule()
  private var ongoing: Ongoing?

  /// The first scan or a later one, while it goes on.
  private struct Ongoing {
    /// Distinguishes the scan from one that was given up, whose thread may still be running.
    let number: Int
    /// The names changed since it began.
    var changed: NameSet = []
    /// The entries that were known when it read its first name, nil before. The marked ones were
    /// met.
    var met: SlotMarks?
    var foreignCount = 0
  }
}

extension ScanLog {
  /// Whether the index knows every entry.
  var isComplete: Bool { progress == .finished }

  /// Whether the first scan has to be started for the index to become complete.
  var needsScan: Bool {
    switch progress {
    case .running, .finished: false
    case .notStarted, .failed: true
    }
  }

  /// Whether any scan is going on.
  var isOngoing: Bool { ongoing != nil }

  /// Whether a later scan may begin: the first is over and none is going on.
  var mayRescan: Bool { isComplete && ongoing == nil }

  /// Whether a scan is still going on and fills the index.
  func isFirst(_ number: Int) -> Bool { isOngoing(number) && !isComplete }

  /// Whether a scan is still going on.
  func isOngoing(_ number: Int) -> Bool { ongoing?.number == number }

  /// Begins a scan, and returns its number.
  mutating func begin() -> Int {
    number += 1
    if isComplete { rescans.restart() }
    ongoing = Ongoing(number: number)
    if !isComplete { progress = .running }
    hasMissedChanges = false
    return number
  }

  /// Notes that a scan reads its first name.
  ///
  /// - Parameter known: A mark for each entry that is known now, none of them set.
  mutating func beginReading(_ number: Int, _ known: SlotMarks) {
    if isOngoing(number) { ongoing?.met = known }
  }

  /// Whether a scan has read a name.
  var hasRead: Bool { isComplete || ongoing?.met != nil }

  /// Ends a scan; does nothing if it was given up before.
  ///
  /// A later scan that failed leaves the progress as it is, because the index is no worse for it.
  ///
  /// - Returns: The names changed since it began, which the caller releases outside of the engine's
  ///   lock.
  mutating func end(_ number: Int, _ outcome: DiskStatistics.ScanProgress) -> NameSet? {
    guard let scan = ongoing, scan.number == number else { return nil }
    ongoing = nil
    if outcome == .finished { foreignCount = scan.foreignCount }
    if !isComplete {
      progress = outcome
      rescans.restart()
    }
    return scan.changed
  }

  /// Gives up the ongoing scan, because what it has met is removed.
  mutating func giveUp() {
    if !isComplete { progress = .notStarted }
    ongoing = nil
  }

  /// Gives up the ongoing scan and starts anew, because the index no longer shows what the
  /// directory holds.
  mutating func reset() {
    progress = .notStarted
    giveUp()
  }
}

// Files that the ongoing scan meets.
extension ScanLog {
  /// Counts things that a scan has met and that do not belong to the cache.
  ///
  /// - Returns: Whether the scan is still going on.
  mutating func addForeign(_ count: Int, scan number: Int) -> Bool {
    guard isOngoing(number) else { return false }
    ongoing?.foreignCount += count
    return true
  }

  /// Marks an entry as met by the ongoing scan. The slot is nil if the entry was not known.
  mutating func meet(_ slot: EntrySlot?) {
    if let slot { ongoing?.met?.mark(slot) }
  }

  /// Returns the marks of the entries that a scan has met; nil if it has not read a name, or is no
  /// longer going on.
  func marks(of number: Int) -> SlotMarks? {
    ongoing.flatMap { $0.number == number ? $0.met : nil }
  }
}

// Changes during a scan.
extension ScanLog {
  /// Notes that a name has changed, so that the ongoing scan does not report an older file.
  mutating func noteChange(of name: EntryName) {
    ongoing?.changed.insert(name)
  }

  /// Whether a name has changed since the ongoing scan began.
  func hasChanged(_ name: EntryName) -> Bool { ongoing?.changed.contains(name) ?? false }

  /// Notes that the latest scan may have passed over something, so that another one has to follow.
  mutating func noteMissedChanges() { hasMissedChanges = true }
}
