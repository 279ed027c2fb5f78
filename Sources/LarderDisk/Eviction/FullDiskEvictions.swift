import LarderSystem

/// The evictions that stores ask for when they find the disk full.
///
/// A disk that something else has filled stays full whatever is evicted: if every store that fails
/// halved the cache, ten of them would empty it. So there is one eviction at a time, which counts
/// for all stores that were under way then. After one that helped none of them there is no other
/// for `fullDiskPause`.
struct FullDiskEvictions: Sendable {
  /// The number of evictions that are over.
  private(set) var count = 0
  private var isEvicting = false
  /// Whether the last eviction freed anything.
  private var hasFreed = false
  /// Whether a store succeeded after the last eviction.
  private var hasHelped = false
  /// The last time at which a store found the disk as full after the last eviction as before it.
  private var lastVain: MonotonicTime?

  /// The next step of a store that found the disk full.
  enum Step: Sendable, Equatable {
    /// Evict, and call `end(hasFreed:)`.
    case evict
    /// Try again, because an eviction since the store began has freed something.
    case retry
    /// Fail, because an eviction would not help.
    case fail
  }

  /// Decides the next step of a store that found the disk full; nil to wait for the end of the
  /// eviction that is going on. If the step is to evict, the eviction is going on from then.
  ///
  /// - Parameters:
  ///   - count: The number of evictions that were over when the store began to write.
  ///   - pause: The time without evictions after one that helped no store.
  mutating func step(since count: Int, at now: MonotonicTime, pause: Duration) -> Step? {
    if isEvicting { return nil }
    if self.count != count { return hasFreed ? .retry : .fail }
    if let lastVain, now.duration(since: lastVain) < pause { return .fail }
    isEvicting = true
    return .evict
  }

  /// Ends the eviction that is going on.
  mutating func end(hasFreed: Bool) {
    isEvicting = false
    count += 1
    (self.hasFreed, hasHelped, lastVain) = (hasFreed, false, nil)
  }

  /// Judges the last eviction by a store that was tried again after it.
  ///
  /// - Returns: Whether the eviction counts as vain from now on: no store has succeeded since, and
  ///   this is the first that failed.
  mutating func judge(hasHelped: Bool, at now: MonotonicTime) -> Bool {
    if hasHelped { (self.hasHelped, lastVain) = (true, nil) }
    if self.hasHelped { return false }
    return exchange(&lastVain, with: now) == nil
  }
}

extension EngineState {
  /// Counts an eviction for a full disk; returns its plan: the trim target, and room for a store.
  mutating func planRoom(
    for byteCount: Int, at now: Timestamp, _ configuration: DiskCache.Configuration
  ) -> TrimPlan {
    counters.purges += 1
    counters.upkeepFailures[.noSpace, default: 0] += 1
    let total = Int(clamping: catalog.index.totals.allocatedByteCount)
    var plan = TrimPlan(for: .size(.max), at: now, configuration)
    let stuck = catalog.index.stuckTotals.allocatedByteCount
    let target = TrimPlan.target(total, configuration.trimTarget, stuck: stuck)
    plan.maximumSize = (target, .allocatedBytes)
    plan.byteCountToFree = UInt64(byteCount)
    return plan
  }
}
