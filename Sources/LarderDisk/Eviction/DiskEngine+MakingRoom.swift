import LarderSystem
import Synchronization

extension DiskEngine {
  /// The next step of a store that found the disk full.
  private enum RoomStep: Sendable {
    case fail, retry
    case evict(TrimPlan)
  }

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
    let now = self.now
    let step = wait { [configuration] state -> RoomStep? in
      guard state.isScanned else { return .fail }
      switch state.fullDisk.step(since: count, at: .now, pause: configuration.fullDiskPause) {
      case .wait: return nil
      case .retry: return .retry
      case .fail: return .fail
      case .evict: break
      }
      state.counters.countPurge()
      return .evict(
        .room(for: byteCount, in: state.index.totals, at: now, configuration))
    }
    guard case .evict(let plan) = step else {
      if case .retry = step { return true }
      return false
    }
    let hasFreed = carryOut(plan).map { wait(for: $0).removed > 0 } ?? false
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
        state.counters.countVainEviction()
      }
    }
  }
}
