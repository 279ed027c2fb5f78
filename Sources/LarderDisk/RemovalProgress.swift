public import LarderBasics
import LarderSystem
import Synchronization

/// The removal of everything, going on in the background.
public final class RemovalProgress: Sendable {
  private let state = ForkSafeMutex(State())
  private let changed = EventCount()
  private let forkCount = ProcessIdentity.forkCount

  private struct State {
    var result = BulkRemoval()
    var isFinished = false
    var failure: CacheError?
  }

  init() {}

  /// What was removed so far.
  ///
  /// Grows until the end; never waits.
  public var result: BulkRemoval { state.withLock { $0.result } }

  /// Whether that is all.
  public var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Waits for the end.
  ///
  /// - Throws: `CacheError` if the directory could not be read; what was removed stays removed.
  ///   `.forked` in a forked child, unless the end came before the fork: the removal is the parent's
  ///   and goes on there.
  /// - Returns: What was removed in all.
  @discardableResult
  public func wait() throws(CacheError) -> BulkRemoval {
    while true {
      let ticket = changed.ticket()
      let now = state.withLock { $0 }
      if now.isFinished {
        if let failure = now.failure { throw failure }
        return now.result
      }
      guard forkCount == ProcessIdentity.forkCount else {
        throw CacheError(.forked, operation: "removeAll")
      }
      changed.wait(ticket)
    }
  }

  /// Adds what came of some entries; `result` shows it at once.
  func add(_ result: BulkRemoval) {
    state.withLock { $0.result.add(result) }
  }

  /// Remembers the failure that `wait()` throws. `finish()` has to follow.
  func fail(_ error: CacheError) {
    state.withLock { $0.failure = error }
  }

  /// Wakes all who wait.
  func finish() {
    state.withLock { $0.isFinished = true }
    changed.signal()
  }
}
