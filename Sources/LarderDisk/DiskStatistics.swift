public import LarderBasics
public import LarderSystem

/// The counters of a disk cache since it was opened. The objects of one process that write to one
/// directory share them; one that only reads has its own.
public struct DiskStatistics: Sendable, Hashable {
  /// Values found, by `value`, `read` or `withFile`.
  public internal(set) var hits = 0
  /// Values not found, by reason.
  public internal(set) var misses: [MissReason: Int] = [:]
  /// Values that became visible.
  public internal(set) var stores = 0
  /// Values not stored, by reason.
  public internal(set) var rejections: [StoreOutcome.Reason: Int] = [:]
  /// Entries that this process removed, by cause; not those that it found gone.
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
  /// How long ago the entry was used that was evicted last, for a limit or a trim; nil before. By
  /// use, what is not used for so long is evicted before it is used again.
  public internal(set) var evictionAge: Duration?
  /// The misses that would have been hits with twice the size and count limits. Each entry that
  /// this process has evicted counts once until it is stored again; an estimate beyond thousands.
  public internal(set) var moreHitsAtDoubleLimit = 0
  /// The same for four times the limits.
  public internal(set) var moreHitsAtFourfoldLimit = 0
  /// The order in which limits evict now, which is that of use where the configured one cannot be.
  public internal(set) var evictionOrder = DiskCache.EvictionOrder.leastRecentlyUsed
  /// Asynchronous reads of values that needed no other thread: nothing had to wait for the disk.
  public internal(set) var promptReads = 0
  /// Asynchronous reads of values that tried so in vain, and that one of the cache's threads made.
  public internal(set) var switchedReads = 0
  /// Errors thrown to callers, by error number. Errors that did not come from the system, such as
  /// `.closed`, have no number and are not counted.
  public internal(set) var errors: [Errno: Int] = [:]
  /// Failed steps in the background, by error number; evictions for a full disk as `noSpace`.
  public internal(set) var upkeepFailures: [Errno: Int] = [:]
  /// The progress of the scan of the directory.
  public internal(set) var scan = ScanProgress.notStarted
  /// Things in the directory that are not the cache's, as of the last scan.
  public internal(set) var foreignCount = 0
  /// Whether other users own it or can write to it: files that they plant would be served.
  public internal(set) var isDirectoryUnsafe = false

  // Counted apart until a caller asks, because counting in a dictionary takes longer than the look
  // into the index. The removals are in the order of all causes.
  private var absentCount = 0
  private var removalCounts = [0, 0, 0, 0, 0]

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

// The counters of an engine, which are the statistics without what only the log of scans knows.
extension DiskStatistics {
  /// Returns the statistics as callers see them.
  func snapshot(_ scans: ScanLog) -> DiskStatistics {
    var snapshot = self
    snapshot.scan = scans.progress
    snapshot.foreignCount = scans.foreignCount
    if absentCount > 0 { snapshot.misses[.absent] = exchange(&snapshot.absentCount, with: 0) }
    for (cause, count) in zip(RemovalCause.allCases, removalCounts) where count > 0 {
      snapshot.removals[cause] = count
    }
    snapshot.removalCounts = DiskStatistics().removalCounts
    return snapshot
  }

  /// Counts a value that was found.
  mutating func countHit(of byteCount: UInt64) {
    hits += 1
    bytesRead.addSaturating(byteCount)
  }

  /// Counts a miss.
  mutating func countMiss(_ reason: MissReason) {
    if reason == .absent { absentCount += 1 } else { misses[reason, default: 0] += 1 }
  }

  /// Counts a value that was stored.
  mutating func countStore(of byteCount: UInt64) {
    stores += 1
    bytesWritten.addSaturating(byteCount)
  }

  /// Counts an entry that was removed.
  mutating func countRemoval(_ cause: RemovalCause) { removalCounts[cause.index] += 1 }
}

extension EngineState {
  /// Counts how long ago an entry was used that was evicted, and what larger limits would keep.
  mutating func count(
    evicted entry: IndexedEntry, by plan: TrimPlan, at now: Timestamp,
    _ measure: DiskCache.SizeMeasure
  ) {
    counters.evictionAge = max(.zero, now.duration(since: entry.lastAccess))
    guard plan.isForLimit else { return }
    let byteCount = measure == .bytes ? entry.byteCount : entry.allocatedByteCount
    catalog.larger.note(entry.name.shortHash, byteCount: byteCount, expiry: entry.expiry)
  }

  /// Counts a miss of a name without a file.
  mutating func countAbsent(_ name: EntryName) {
    counters.countMiss(.absent)
    let more = catalog.larger.countMiss(name.shortHash, at: catalog.uses.latest)
    counters.moreHitsAtDoubleLimit += more.double
    counters.moreHitsAtFourfoldLimit += more.fourfold
  }
}
