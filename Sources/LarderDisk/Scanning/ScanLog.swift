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
    var changed: NameMap<Void> = [:]
    /// Whether it has met the entries that were known when it read its first name, by slot; nil
    /// before.
    var met: [Bool]?
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
  mutating func beginReading(_ number: Int, _ known: [Bool]) {
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
  mutating func end(_ number: Int, _ outcome: DiskStatistics.ScanProgress) -> NameMap<Void>? {
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
    // One that came later needs no mark.
    if let slot, ongoing?.met?.indices.contains(slot.index) == true {
      ongoing?.met?[slot.index] = true
    }
  }

  /// Returns the marks of the entries that a scan has met; nil if it has not read a name, or is no
  /// longer going on.
  func marks(of number: Int) -> [Bool]? {
    ongoing.flatMap { $0.number == number ? $0.met : nil }
  }
}

// Changes during a scan.
extension ScanLog {
  /// Notes that a name has changed, so that the ongoing scan does not report an older file.
  mutating func noteChange(of name: EntryName) {
    ongoing?.changed[name] = ()
  }

  /// Whether a name has changed since the ongoing scan began.
  func hasChanged(_ name: EntryName) -> Bool { ongoing?.changed[name] != nil }

  /// Notes that the latest scan may have passed over something, so that another one has to follow.
  mutating func noteMissedChanges() { hasMissedChanges = true }
}

/// The times at which a directory is scanned again if no events report what other processes do.
///
/// If this process stores much, other processes may have done so as well. A scan is due once this
/// process has stored a twentieth of a limit, and some time after its last store.
struct RescanSchedule: Sendable {
  /// The bytes stored since the last scan began.
  private(set) var byteCount: UInt64 = 0
  /// The entries stored since then.
  private var storeCount = 0
  private var lastStore: MonotonicTime?
  /// Whether a look some time after the last store is planned.
  private var isPlanned = false
  private var lastEnd: MonotonicTime?
  private var lastDuration = Duration.zero
}

extension RescanSchedule {
  /// Whether a scan has ended.
  var hasScanned: Bool { lastEnd != nil }

  /// Counts from zero again, because a scan begins or the first one has ended.
  mutating func restart() {
    byteCount = 0
    storeCount = 0
  }

  /// Counts a store.
  mutating func noteStore(of byteCount: UInt64) {
    self.byteCount += byteCount
    storeCount += 1
  }

  /// Notes the end and the duration of a scan.
  mutating func endScan(from start: MonotonicTime, to end: MonotonicTime) {
    lastEnd = end
    lastDuration = end.duration(since: start)
  }

  /// Whether this process has stored more than a twentieth of a limit since the last scan began.
  ///
  /// False for as long after a scan as the scan took, so that scans take no more than half of one
  /// thread's time, however much the process stores.
  func isDue(sizeLimit: Int?, countLimit: Int?, at time: MonotonicTime) -> Bool {
    if let lastEnd, time.duration(since: lastEnd) < lastDuration { return false }
    if let sizeLimit, byteCount > UInt64(sizeLimit) / 20 { return true }
    return countLimit.map { storeCount > $0 / 20 } ?? false
  }

  /// Whether a process that ends during its first scan stays until the scan is over.
  ///
  /// The probability is the number of bytes that it stored, divided by 5 % of the limit, so that
  /// many short processes together keep the limit and few of them pay for a scan.
  ///
  /// - Parameter chance: A random number from 0 to 1.
  func mustFinishScan(sizeLimit: Int, chance: Double) -> Bool {
    Double(byteCount) >= Double(sizeLimit) * 0.05 * chance
  }
}

// The look after the last store.
extension RescanSchedule {
  /// Notes the time of a store.
  ///
  /// - Returns: Whether the caller has to plan the look after the last store. It counts as planned
  ///   from then on.
  mutating func planLook(afterStoreAt time: MonotonicTime) -> Bool {
    lastStore = time
    defer { isPlanned = true }
    return !isPlanned
  }

  /// Returns the time that the planned look still has to wait. Zero or less means that nothing was
  /// stored for the whole delay: the look is no longer planned, and the caller starts the scan.
  mutating func rest(of delay: Duration, at time: MonotonicTime) -> Duration? {
    guard let lastStore else { return nil }
    let rest = delay - time.duration(since: lastStore)
    if rest <= .zero { isPlanned = false }
    return rest
  }
}
