import Synchronization

/// What is known of evictions for a full disk.
///
/// A disk that something else has filled stays full whatever is evicted: if every store that fails
/// halved the cache, ten of them would empty it. So there is one eviction at a time, which counts
/// for all stores that were under way then; and after one that helped none of them there is none
/// for this reason for `fullDiskPause`.
struct FullDisk: Sendable {
  /// Whether an eviction is going on.
  var isEvicting = false
  /// The evictions that are over.
  var count = 0
  /// Whether the last one freed anything.
  var hasFreed = false
  /// Whether a store succeeded after the last one.
  var hasHelped = false
  /// The eviction after which a store last found the disk as full as before, and when.
  var lastVain: (count: Int, time: MonotonicTime)?
}

extension DiskEngine {
  /// What a store does that found the disk full.
  private enum RoomStep: Sendable {
    case fail, retry
    case evict(TrimPlan)
  }

  /// The evictions for a full disk that are over, as a store notes it before it writes.
  var fullDiskCount: Int { fullDiskMark.load(ordering: .relaxed) }

  /// After a store found the disk full: evicts down to the trim target, or waits for another store
  /// that does.
  ///
  /// - Parameter count: The evictions that were over when the store began to write. A later one
  ///   counts for it too.
  /// - Returns: Whether anything was freed, so that another try makes sense. What comes of that has
  ///   to be told to `noteRoom(hasHelped:)`.
  func makeRoom(for byteCount: Int, since count: Int) -> Bool {
    let now = self.now
    let step = wait { [configuration] state -> RoomStep? in
      guard state.isScanned else { return .fail }
      if state.fullDisk.isEvicting { return nil }
      if state.fullDisk.count != count { return state.fullDisk.hasFreed ? .retry : .fail }
      if let last = state.fullDisk.lastVain,
        MonotonicTime.now.duration(since: last.time) < configuration.fullDiskPause
      {
        return .fail
      }
      state.fullDisk.isEvicting = true
      state.statistics.purges += 1
      var plan = TrimPlan(now: now, protected: nil)
      let total = state.index.allocatedByteCount
      plan.maximumAllocatedByteCount = TrimPlan.target(
        Int(min(total, UInt64(Int.max))), configuration.trimTarget)
      plan.byteCountToFree = UInt64(byteCount)
      return .evict(plan)
    }
    guard case .evict(let plan) = step else {
      if case .retry = step { return true }
      return false
    }
    let hasFreed = carryOut(plan).map { wait(for: $0).removed > 0 } ?? false
    withState { state in
      state.fullDisk.isEvicting = false
      state.fullDisk.count += 1
      state.fullDisk.hasFreed = hasFreed
      state.fullDisk.hasHelped = false
    }
    fullDiskMark.wrappingAdd(1, ordering: .relaxed)
    changed.signal()
    if !hasFreed { noteRoom(hasHelped: false) }
    return hasFreed
  }

  /// Takes note of what came of a store that was tried again after an eviction.
  func noteRoom(hasHelped: Bool) {
    withState { state in
      if hasHelped {
        state.fullDisk.hasHelped = true
        state.fullDisk.lastVain = nil
      } else if !state.fullDisk.hasHelped {
        let count = state.fullDisk.count
        if state.fullDisk.lastVain?.count != count { state.statistics.vainEvictions += 1 }
        state.fullDisk.lastVain = (count, MonotonicTime.now)
      }
    }
  }
}
