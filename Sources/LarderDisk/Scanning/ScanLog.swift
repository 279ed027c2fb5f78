import LarderSystem

/// The progress of a directory's scans.
///
/// The first scan fills the index. Later ones look for changes by other processes; the index stays
/// as good as it was during them, so totals and limits need not wait.
struct ScanLog: Sendable {
  /// The progress of the scan that fills the index.
  private(set) var progress = DiskStatistics.ScanProgress.notStarted
  /// The number of things in the directory that are not the cache's, as of the last finished scan.
  private(set) var foreignCount = 0
  /// The number of the latest scan. It distinguishes the scan from one that was given up, whose
  /// thread may still be running.
  private(set) var number = 0
  /// Whether something happened that the latest scan may have passed over: another has to follow.
  var hasMissedChanges = false
  /// Whether any scan has left a file out because its status could not be read.
  var hasLeftOut = false
  /// The times at which the directory is scanned again where no events report changes.
  var rescans = RescanSchedule()
  /// Whether the latest scan is going on.
  private(set) var isOngoing = false
  /// By slot, whether the scan has met the entry; nil before it has read its first name.
  private var met: [Bool]?

  /// Whether the index knows every entry.
  var isComplete: Bool { progress == .finished }

  /// Whether the first scan has to be started for the index to become complete.
  var needsScan: Bool { !isComplete && !isOngoing }

  /// Whether a later scan may begin: the first is over and none is going on.
  var mayRescan: Bool { isComplete && !isOngoing }

  /// Whether a scan is still going on.
  func isOngoing(_ number: Int) -> Bool { isOngoing && number == self.number }

  /// Begins a scan, and returns its number.
  mutating func begin() -> Int {
    number += 1
    if isComplete { rescans.restart() } else { progress = .running }
    (isOngoing, hasMissedChanges) = (true, false)
    return number
  }

  /// Notes that a scan reads its first name, after the directory is watched. Whatever is known by
  /// then may be gone, also what reads have brought since the scan began.
  ///
  /// - Parameter known: A mark for each entry that is known now, none of them set.
  mutating func beginReading(_ number: Int, _ known: [Bool]) {
    if isOngoing(number) { met = known }
  }

  /// Whether a process that ends during its first scan stays until the scan is over.
  ///
  /// The probability is what it stored, divided by 5 % of the limit, so that many short processes
  /// together keep the limit and few of them pay for a scan.
  ///
  /// - Parameter chance: A random number from 0 to 1.
  func mustFinishScan(
    _ configuration: DiskCache.Configuration, chance: Double = .random(in: 0..<1)
  ) -> Bool {
    progress == .running && rescans.hasStored(0.05 * chance, of: configuration)
  }

  /// Whether a scan has read a name.
  var hasRead: Bool { isComplete || met != nil }

  /// Marks an entry as met by the ongoing scan. The slot is nil if the entry was not known.
  mutating func meet(_ slot: EntrySlot?) {
    // One that came later needs no mark.
    if let slot, met?.indices.contains(slot.index) == true { met?[slot.index] = true }
  }

  /// Returns the marks of what a scan has met; nil before its first name, and after its end.
  func marks(of number: Int) -> [Bool]? { isOngoing(number) ? met : nil }

  /// Ends a scan; does nothing if it was given up before.
  ///
  /// A later scan that failed leaves the progress as it is, because the index is no worse for it.
  ///
  /// - Parameter foreignCount: The number of things that a scan has met that are not the cache's.
  mutating func end(_ number: Int, _ outcome: DiskStatistics.ScanProgress, foreignCount: Int = 0) {
    guard isOngoing(number) else { return }
    (isOngoing, met) = (false, nil)
    if outcome == .finished { self.foreignCount = foreignCount }
    if !isComplete {
      progress = outcome
      rescans.restart()
    }
  }

  /// Gives up the ongoing scan, because what it has met is removed.
  mutating func giveUp() {
    if !isComplete { progress = .notStarted }
    (isOngoing, met) = (false, nil)
  }

  /// Gives up the ongoing scan and starts anew: the index shows no longer what the directory holds.
  mutating func reset() {
    progress = .notStarted
    giveUp()
  }
}

/// The times at which a directory is scanned again if no events report what other processes do.
///
/// If this process stores much, other processes may have done so as well. A scan is due once this
/// process has stored a twentieth of a limit, and some time after its last store.
struct RescanSchedule: Sendable {
  /// What was stored since the last scan began, by the measure of the size limit.
  private(set) var byteCount: UInt64 = 0
  /// The entries stored since then.
  private var storeCount = 0
  /// The time of the last store; nil if no look after it is planned.
  private var lastStore: MonotonicTime?
  /// The end of the pause after the last scan; nil before the end of the first.
  private(set) var pauseEnd: MonotonicTime?

  /// Counts from zero again, because a scan begins or the first one has ended.
  mutating func restart() { (byteCount, storeCount) = (0, 0) }

  /// Counts a store.
  mutating func noteStore(of byteCount: UInt64) {
    self.byteCount += byteCount
    storeCount += 1
  }

  /// Begins the pause after a scan: as long as the scan, so that scans take no more than half of
  /// one thread's time, however much the process stores.
  mutating func endScan(from start: MonotonicTime, to end: MonotonicTime) {
    pauseEnd = end.advanced(by: end.duration(since: start))
  }

  /// Whether this process has stored more than a twentieth of a limit since the last scan began,
  /// and the pause after that is over.
  func isDue(_ configuration: DiskCache.Configuration, at time: MonotonicTime) -> Bool {
    if let pauseEnd, time < pauseEnd { return false }
    return hasStored(0.05, of: configuration)
  }

  /// Whether this process has stored more than a share of a limit since the last scan began.
  func hasStored(_ share: Double, of limits: DiskCache.Configuration) -> Bool {
    limits.sizeLimit.map { Double(byteCount) > Double($0) * share } ?? false
      || limits.countLimit.map { Double(storeCount) > Double($0) * share } ?? false
  }

  /// Notes the time of a store.
  ///
  /// - Returns: Whether the caller has to plan the look after the last store. It counts as planned
  ///   from then on.
  mutating func planLook(afterStoreAt time: MonotonicTime) -> Bool {
    exchange(&lastStore, with: time) == nil
  }

  /// Returns the time that the planned look still has to wait. Zero or less means that nothing was
  /// stored for the whole delay: the look is no longer planned, and the caller starts the scan.
  mutating func rest(of delay: Duration, at time: MonotonicTime) -> Duration? {
    guard let last = lastStore else { return nil }
    let rest = delay - time.duration(since: last)
    if rest <= .zero { lastStore = nil }
    return rest
  }
}

extension EngineState {
  /// Ends a scan. If it shows that a limit is exceeded, the purge begins in the same step, so that
  /// totals wait for it. The failure of a later scan is counted.
  ///
  /// - Returns: Whether the limits are to be checked. If a caller's trim waits for the scan, that
  ///   removes the same or more, and reports it.
  mutating func endScan(
    _ number: Int, _ outcome: DiskStatistics.ScanProgress, foreignCount: Int,
    _ configuration: DiskCache.Configuration
  ) -> Bool {
    if isScanned, catalog.scans.isOngoing(number), case .failed(let errno) = outcome {
      counters.upkeepFailures[errno, default: 0] += 1
    }
    catalog.scans.end(number, outcome, foreignCount: foreignCount)
    if configuration.mode.isReadOnly || evictions.waitingTrimCount > 0 { return false }
    beginPurge(configuration, sparing: nil)
    return true
  }
}
