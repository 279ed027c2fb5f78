import LarderBasics
import LarderSystem

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
