public import LarderBasics
import LarderSystem
import Synchronization

/// A removal of everything that goes on in the background.
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

  /// The entries removed so far.
  ///
  /// Grows until the end; never waits.
  public var result: BulkRemoval { state.withLock { $0.result } }

  /// Whether the removal has ended.
  public var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Waits for the end.
  ///
  /// - Throws: `CacheError` if the directory could not be read; removed entries stay removed.
  ///   `.forked` in a forked child, unless the end came before the fork, because the removal is the
  ///   parent's and goes on there.
  /// - Returns: All entries removed.
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

  /// Adds the outcome of some entries; `result` includes it at once.
  func add(_ result: BulkRemoval) {
    state.withLock { $0.result.add(result) }
  }

  /// Notes the failure that `wait()` throws. `finish()` has to follow.
  func fail(_ error: CacheError) {
    state.withLock { $0.failure = error }
  }

  /// Ends the removal and wakes all waiting threads.
  func finish() {
    state.withLock { $0.isFinished = true }
    changed.signal()
  }
}
