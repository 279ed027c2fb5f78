import LarderSystem
import Synchronization

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
  /// The last eviction after which a store found the disk as full as before, and the time of that.
  private var lastVain: (count: Int, time: MonotonicTime)?

  /// The next step of a store that found the disk full.
  enum Step: Sendable, Equatable {
    /// Wait for the end of the eviction that is going on.
    case wait
    /// Evict, and call `end(hasFreed:)`.
    case evict
    /// Try again, because an eviction since the store began has freed something.
    case retry
    /// Fail, because an eviction would not help.
    case fail
  }

  /// Decides the next step of a store that found the disk full. If the step is to evict, the
  /// eviction is going on from then.
  ///
  /// - Parameters:
  ///   - count: The number of evictions that were over when the store began to write.
  ///   - pause: The time without evictions after one that helped no store.
  mutating func step(since count: Int, at now: MonotonicTime, pause: Duration) -> Step {
    if isEvicting { return .wait }
    if self.count != count { return hasFreed ? .retry : .fail }
    if let lastVain, now.duration(since: lastVain.time) < pause { return .fail }
    isEvicting = true
    return .evict
  }

  /// Ends the eviction that is going on.
  mutating func end(hasFreed: Bool) {
    isEvicting = false
    count += 1
    self.hasFreed = hasFreed
    hasHelped = false
  }

  /// Notes that a store succeeded after an eviction.
  mutating func noteSuccess() {
    hasHelped = true
    lastVain = nil
  }

  /// Notes that a store found the disk full again after an eviction.
  ///
  /// - Returns: Whether the eviction counts as vain from now on: no store has succeeded since, and
  ///   this is the first that failed.
  mutating func noteFailure(at now: MonotonicTime) -> Bool {
    if hasHelped { return false }
    defer { lastVain = (count, now) }
    return lastVain?.count != count
  }
}

extension DiskEngine {
  /// The number of evictions for a full disk that are over, which a store notes before it writes.
  var fullDiskCount: Int { fullDiskMark.load(ordering: .relaxed) }

  /// Makes room after a store found the disk full: evicts down to the trim target, or waits for
  /// another store that does.
  ///
  /// - Parameter count: The number of evictions that were over when the store began to write. A
  ///   later one counts for this store too.
  /// - Returns: Whether anything was freed, so that another try makes sense. The caller passes the
  ///   outcome of that try to `noteRoom(hasHelped:)`.
  func makeRoom(for byteCount: Int, since count: Int) -> Bool {
    var start: IndexTotals?
    let hasCleared = waitForClearing { state in
      let (remaining, first) = (state.clearing.remaining, start ?? state.clearing.remaining)
      start = first
      return remaining.allocatedByteCount(missingSince: first) > UInt64(byteCount)
    }
    if hasCleared { return true }
    let now = self.now
    var plan: TrimPlan?
    let step = wait { [configuration] state -> FullDiskEvictions.Step? in
      guard state.isScanned else { return .fail }
      let step = state.fullDisk.step(since: count, at: .now, pause: configuration.fullDiskPause)
      if step == .evict {
        state.counters.purges += 1
        plan = .room(for: byteCount, in: state.catalog.index.totals, at: now, configuration)
      }
      return step == .wait ? nil : step
    }
    guard let plan else { return step == .retry }
    let hasFreed = evict(TrimCourse(plan)).removal.removed > 0
    withState { $0.fullDisk.end(hasFreed: hasFreed) }
    fullDiskMark.wrappingAdd(1, ordering: .relaxed)
    changed.signal()
    if !hasFreed { noteRoom(hasHelped: false) }
    return hasFreed
  }

  /// Takes note of the outcome of a store that was tried again after an eviction.
  func noteRoom(hasHelped: Bool) {
    withState { state in
      if hasHelped {
        state.fullDisk.noteSuccess()
      } else if state.fullDisk.noteFailure(at: .now) {
        state.counters.vainEvictions += 1
      }
    }
  }
}
