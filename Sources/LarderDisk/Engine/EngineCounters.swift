import LarderBasics
import LarderSystem

/// The counters of an engine. ``DiskStatistics`` says which event moves which of them.
struct EngineCounters: Sendable {
  private var statistics = DiskStatistics()
  /// The number of reads that found no file. It is apart from the other misses, because an engine
  /// often counts little else, and counting in a dictionary takes longer than the look into the
  /// index.
  private var absentCount = 0
  /// The removals by the position of their cause, for the same reason.
  private var removals = InlineArray<5, Int>(repeating: 0)
}

extension EngineCounters {
  /// Returns the statistics as callers see them.
  func snapshot(_ scans: ScanLog) -> DiskStatistics {
    var snapshot = statistics
    snapshot.scan = scans.progress
    snapshot.foreignCount = scans.foreignCount
    if absentCount > 0 { snapshot.misses[.absent, default: 0] += absentCount }
    for cause in RemovalCause.allCases where removals[cause.position] > 0 {
      snapshot.removals[cause] = removals[cause.position]
    }
    return snapshot
  }

  /// The number of entries that were removed, whatever the cause.
  var removalCount: Int { removals.indices.reduce(0) { $0 + removals[$1] } }

  /// The number of values that were found or stored.
  var useCount: Int { statistics.hits + statistics.stores }

  /// Whether a value was stored.
  var hasStored: Bool { statistics.stores > 0 }

  /// Notes whether other users can plant files in the directory.
  mutating func note(isDirectoryUnsafe: Bool) {
    statistics.isDirectoryUnsafe = isDirectoryUnsafe
  }
}

// Callers' operations.
extension EngineCounters {
  /// Counts a value that was found.
  mutating func countHit(of byteCount: UInt64) {
    statistics.hits += 1
    statistics.bytesRead.addSaturating(byteCount)
  }

  /// Counts a miss.
  mutating func countMiss(_ reason: MissReason) {
    if reason == .absent {
      absentCount += 1
    } else {
      statistics.misses[reason, default: 0] += 1
    }
  }

  /// Counts a value that was stored.
  mutating func countStore(of byteCount: UInt64) {
    statistics.stores += 1
    statistics.bytesWritten.addSaturating(byteCount)
  }

  /// Counts a value that was not stored.
  mutating func countRejection(_ reason: StoreOutcome.Reason) {
    statistics.rejections[reason, default: 0] += 1
  }

  /// Counts a value that was accepted and could not be written.
  mutating func countLostStore() { statistics.lostStores += 1 }

  /// Counts an error that a caller got.
  mutating func countError(_ errno: Errno) { statistics.errors[errno, default: 0] += 1 }
}

// Entries that leave, and what is done in the background.
extension EngineCounters {
  /// Counts entries that were removed.
  mutating func countRemoval(_ cause: RemovalCause, _ count: Int = 1) {
    removals[cause.position] += count
  }

  /// Counts a purge, or an eviction for a full disk.
  mutating func countPurge() { statistics.purges += 1 }

  /// Counts an eviction for a full disk that helped no store.
  mutating func countVainEviction() { statistics.vainEvictions += 1 }

  /// Adds the time that an eviction took.
  mutating func addEvictionTime(_ time: Duration) { statistics.evictionTime += time }

  /// Counts a use that reached the disk.
  mutating func countStamp() { statistics.stampsWritten += 1 }

  /// Counts a use that could not reach the disk.
  mutating func countDroppedStamp() { statistics.stampsDropped += 1 }

  /// Counts a failure of a step in the background.
  mutating func countUpkeepFailure(_ errno: Errno) {
    statistics.upkeepFailures[errno, default: 0] += 1
  }
}

extension RemovalCause {
  fileprivate var position: Int {
    switch self {
    case .explicit: 0
    case .replaced: 1
    case .expired: 2
    case .evicted: 3
    case .corrupt: 4
    }
  }
}
