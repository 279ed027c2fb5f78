public import LarderBasics
import LarderSystem
import Synchronization

/// A removal of everything that goes on in the background.
public final class RemovalProgress: Sendable {
  private let state = ForkSafeMutex(State())
  private let changed = EventCount()
  /// The state at the end, which needs no lock that a forked child may have inherited locked.
  private let outcome = AtomicLazyReference<Outcome>()
  private let forkCount = ProcessIdentity.forkCount

  private struct State {
    var result = BulkRemoval()
    var failure: CacheError?
  }

  private final class Outcome: Sendable {
    let result: BulkRemoval
    let failure: CacheError?

    init(_ state: State) { (result, failure) = (state.result, state.failure) }
  }

  init() {}

  /// The entries removed so far.
  ///
  /// Grows until the end; never waits. Empty in a forked child, unless the end came before the
  /// fork.
  public var result: BulkRemoval {
    if let outcome = outcome.load() { return outcome.result }
    return isForked ? BulkRemoval() : state.withLock { $0.result }
  }

  /// Whether the removal has ended.
  public var isFinished: Bool { outcome.load() != nil }

  private var isForked: Bool { forkCount != ProcessIdentity.forkCount }

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
      if let outcome = outcome.load() {
        if let failure = outcome.failure { throw failure }
        return outcome.result
      }
      if isForked { throw CacheError(.forked, operation: "removeAll") }
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
    _ = outcome.storeIfNil(Outcome(state.withLock { $0 }))
    changed.signal()
  }
}
