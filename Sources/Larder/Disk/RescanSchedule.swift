/// What tells when the next scan is due where no events come.
struct RescanSchedule: Sendable {
  /// Bytes and entries that this process has stored since the last scan began: while it stored that
  /// much, neighbours may have as well.
  var byteCount: UInt64 = 0
  var storeCount = 0
  var lastStore: MonotonicTime?
  /// Whether a look after the last store is planned.
  var isPlanned = false
  /// When the last scan ended and how long it took.
  var lastEnd: MonotonicTime?
  var lastDuration = Duration.zero
}

extension RescanSchedule {
  /// Whether this process has written so much since the last scan that the next one is due: a
  /// twentieth of a limit.
  ///
  /// However much it writes, scans take no more than half of one thread's time.
  func isDue(sizeLimit: Int?, countLimit: Int?, at time: MonotonicTime) -> Bool {
    if let lastEnd, time.duration(since: lastEnd) < lastDuration { return false }
    if let sizeLimit, byteCount > UInt64(sizeLimit) / 20 { return true }
    return countLimit.map { storeCount > $0 / 20 } ?? false
  }

  /// Begins to count anew.
  mutating func begin() {
    byteCount = 0
    storeCount = 0
  }
}
