public import LarderBasics
public import LarderSystem

/// The counters of a disk cache since it was opened. The objects of one process that write to one
/// directory share them; one that only reads has its own.
///
/// | counter | goes up when |
/// |---|---|
/// | `hits` | a value was found, by `value`, `read` or `withFile` |
/// | `misses` | none was found, by reason |
/// | `stores` | a value became visible |
/// | `rejections` | a value was not stored, by reason |
/// | `removals` | an entry left by this process, by cause; not one that was found gone |
/// | `purges` | a limit was exceeded or the disk was full, and an eviction began |
/// | `vainEvictions` | a store found the disk full again after an eviction for it |
/// | `bytesRead`, `bytesWritten` | with hits and stores, by the value's length |
/// | `stampsWritten` | a use reached the disk |
/// | `stampsDropped` | a use did not, because another process had changed or removed the file |
/// | `lostStores` | a value that was accepted as pending could not be written |
/// | `evictionTime` | files were evicted, by the time that it took |
/// | `errors` | a call threw an error that came from the system, by error number |
/// | `upkeepFailures` | a step in the background failed, by error number |
public struct DiskStatistics: Sendable, Hashable {
  /// Values found.
  public internal(set) var hits = 0
  /// Values not found, by reason.
  public internal(set) var misses: [MissReason: Int] = [:]
  /// Values stored.
  public internal(set) var stores = 0
  /// Values not stored, by reason.
  public internal(set) var rejections: [StoreOutcome.Reason: Int] = [:]
  /// Entries removed, by cause.
  public internal(set) var removals: [RemovalCause: Int] = [:]
  /// The number of evictions that began because a limit was exceeded or the disk was full.
  public internal(set) var purges = 0
  /// Evictions for a full disk after which it was as full as before, so other files must fill it.
  /// For 30 seconds after one, stores that find the disk full fail without another eviction.
  public internal(set) var vainEvictions = 0
  /// Bytes of values found.
  public internal(set) var bytesRead = 0
  /// Bytes of values stored.
  public internal(set) var bytesWritten = 0
  /// Uses that reached the disk.
  public internal(set) var stampsWritten = 0
  /// Uses that did not, because another process had changed or removed the file.
  public internal(set) var stampsDropped = 0
  /// Values accepted as pending that could not be written later.
  public internal(set) var lostStores = 0
  /// The time that removing the files of evicted and expired entries took, in the threads of stores
  /// and in the background.
  public internal(set) var evictionTime = Duration.zero
  /// Errors thrown to callers, by error number. Errors that did not come from the system, such as
  /// `.closed`, have no number and are not counted.
  public internal(set) var errors: [Errno: Int] = [:]
  /// Failures in the background, by error number.
  public internal(set) var upkeepFailures: [Errno: Int] = [:]
  /// The progress of the scan of the directory.
  public internal(set) var scan = ScanProgress.notStarted
  /// Things in the directory that are not the cache's, as of the last scan.
  public internal(set) var foreignCount = 0
  /// Whether other users own or can write to the directory, so that files that they plant would be
  /// served.
  public internal(set) var isDirectoryUnsafe = false

  /// The progress of the scan of a directory.
  public enum ScanProgress: Sendable, Hashable {
    /// No operation has needed it.
    case notStarted
    /// It is going on. Totals wait for it, and limits are not kept yet.
    case running
    /// The index knows every entry.
    case finished
    /// It failed, and the next operation that needs it tries again.
    case failed(Errno)
  }

  /// All misses together.
  public var missCount: Int { misses.values.reduce(0, +) }

  /// The share of reads that found a value, 0 to 1; nil before the first read.
  public var hitRate: Double? {
    let reads = hits + missCount
    return reads > 0 ? Double(hits) / Double(reads) : nil
  }
}

/// The counters of an engine.
struct EngineCounters: Sendable {
  /// All counters but the two that follow.
  var statistics = DiskStatistics()
  /// The number of reads that found no file. It is apart from the other misses, because an engine
  /// often counts little else, and counting in a dictionary takes longer than the look into the
  /// index.
  private var absentCount = 0
  /// The removals by the position of their cause, for the same reason.
  private var removals = InlineArray<5, Int>(repeating: 0)

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

  /// The number of values that were found or stored.
  var useCount: Int { statistics.hits + statistics.stores }

  /// Whether a value was stored.
  var hasStored: Bool { statistics.stores > 0 }
}

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

  /// Counts entries that were removed.
  mutating func countRemoval(_ cause: RemovalCause, _ count: Int = 1) {
    removals[cause.position] += count
  }

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
