import LarderBasics
import LarderDisk
import LarderSystem
import Synchronization

/// Makes one load of all concurrent requests for a key: the effects around `FlightTable`.
package final class FlightControl<Value: Sendable>: Sendable {
  /// Resumed with nil, a caller came too late for the load and asks again.
  private typealias Waiter = CheckedContinuation<Value?, any Error>

  private struct State {
    var table = FlightTable<Waiter>()
    var tasks: [FlightID: Task<Void, Never>] = [:]
    var failures = FailureTable()
    var statistics = LoadStatistics()
  }

  private let state = ForkSafeMutex(State())
  /// Whether any load was ever started: a cache without loads takes no lock for them when it stores.
  // Set before a load begins and looked at after a change is visible, both in one order of all
  // threads: a change that does not find it set was made before the load began.
  private let isUsed = Atomic<Bool>(false)

  init() {}

  /// Waits for the value of a key: of the load that is going on, or of a new one.
  ///
  /// A caller that is cancelled stops waiting; the load goes on for the others, and is cancelled
  /// when nobody is left. One that came after the key was changed waits for a load that began after
  /// that.
  func value(
    of key: CacheKey, clock: WallClock,
    _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) async throws -> Value {
    while true {
      giveUpRefresh(of: key, at: clock.now())
      if let value = try await wait(for: key, load) { return value }
    }
  }

  /// Ends a refresh that has taken too long. Those who wait for it ask again.
  private func giveUpRefresh(of key: CacheKey, at now: Timestamp) {
    let (waiters, task) = state.withLock { state -> ([Waiter], Task<Void, Never>?) in
      guard let overdue = state.table.giveUpRefresh(of: key, at: now) else { return ([], nil) }
      return (overdue.waiters, state.tasks.removeValue(forKey: overdue.flight))
    }
    for waiter in waiters { waiter.resume(returning: nil) }
    task?.cancel()
  }

  private func wait(
    for key: CacheKey, _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) async throws -> Value? {
    let id = WaiterID()
    isUsed.store(true, ordering: .sequentiallyConsistent)
    // After the cancellation handler is done for good, which returning from it guarantees.
    defer {
      state.withLock { $0.table.forget(id) }
      FlightContext.waitEnded(id)
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // The continuation is put into the table under the lock and resumed outside of it.
        let joining = state.withLock { state in
          let joining = state.table.join(key, id, continuation) {
            FlightContext.mayWait(id, for: $0)
          }
          if case .wait = joining { state.statistics.joined += 1 }
          return joining
        }
        switch joining {
        case .start(let flight): start(flight, load)
        case .wait: break
        case .cycle:
          continuation.resume(throwing: CacheError(.loadCycle, operation: "value"))
        case .cancelled: continuation.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Starts a load that nobody waits for, unless one of the key is going on or failed a short time
  /// ago.
  ///
  /// - Parameter time: How long the load may take before the next caller gives it up.
  func refresh(
    _ key: CacheKey, at now: Timestamp, within time: Duration,
    _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) {
    isUsed.store(true, ordering: .sequentiallyConsistent)
    giveUpRefresh(of: key, at: now)
    let flight = state.withLock { state -> FlightID? in
      guard state.failures.error(for: key, at: now) == nil else { return nil }
      return state.table.refresh(key, until: now.adding(time))
    }
    if let flight { start(flight, load) }
  }

  /// Runs a load in a task of its own, which knows that it is inside of it.
  private func start(
    _ flight: FlightID, _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) {
    // Unstructured, so that the load outlives the caller that started it.
    let task = Task {
      let start = MonotonicTime.now
      await FlightContext.entering(flight) {
        do {
          let value = try await load(flight)
          self.finish(flight, .success(value), since: start)
        } catch {
          self.finish(flight, .failure(error), since: start)
        }
      }
    }
    // The load may have ended already, or nobody may want it any more.
    let isWanted = state.withLock { state in
      state.statistics.started += 1
      guard state.table.isGoingOn(flight) else { return false }
      state.tasks[flight] = task
      return true
    }
    if !isWanted { task.cancel() }
  }

  /// Ends a flight, counts it, and hands its outcome to all who wait.
  private func finish(
    _ flight: FlightID, _ result: Result<Value, any Error>, since start: MonotonicTime
  ) {
    let time = MonotonicTime.now.duration(since: start)
    let audience = state.withLock { state in
      state.statistics.add(time, isSuccess: result.isSuccess)
      state.tasks[flight] = nil
      return state.table.finish(flight)
    }
    for waiter in audience.answered { waiter.resume(with: result.map { $0 }) }
    for waiter in audience.late { waiter.resume(returning: nil) }
  }

  /// Ends one caller's wait, and the load with the last of them.
  private func cancel(_ id: WaiterID) {
    let (waiter, task) = state.withLock { state in
      let cancellation = state.table.cancel(id)
      let task = cancellation.abandoned.flatMap { state.tasks.removeValue(forKey: $0) }
      return (cancellation.waiter, task)
    }
    // The caller first: it need not wait for the load to notice.
    waiter?.resume(throwing: CancellationError())
    task?.cancel()
  }

  /// Takes note that a key's value was stored or removed.
  func supersede(_ key: CacheKey) {
    guard isUsed.load(ordering: .sequentiallyConsistent) else { return }
    state.withLock { state in
      state.table.supersede(key)
      state.failures.remove(key)
    }
  }

  /// Takes note that a load's own value was stored.
  func noteStored(_ key: CacheKey, by flight: FlightID) {
    state.withLock { state in
      state.table.noteStored(flight)
      state.failures.remove(key)
    }
  }

  /// Takes note that everything was removed.
  func supersedeAll() {
    guard isUsed.load(ordering: .sequentiallyConsistent) else { return }
    state.withLock { state in
      state.table.supersedeAll()
      state.failures = FailureTable()
    }
  }

  /// What all loads came to.
  var statistics: LoadStatistics { state.withLock { $0.statistics } }

  /// The error of a load that failed a short time ago and still stands.
  func failure(for key: CacheKey, at now: Timestamp) -> (any Error)? {
    state.withLock { $0.failures.error(for: key, at: now) }
  }

  /// Lets the error of a load stand for its key until a point in time, unless the key was changed
  /// since the load began or nobody waits for it any more.
  func keepFailure(
    _ error: any Error, for key: CacheKey, of flight: FlightID, until expiry: Timestamp
  ) {
    state.withLock { state in
      guard state.table.isWanted(flight) else { return }
      state.failures.add(error, for: key, until: expiry)
    }
  }

  /// The number of callers that wait.
  var waiterCount: Int { state.withLock { $0.table.waiterCount } }

  /// Counts a caller that got the error of an earlier load.
  func noteServedFailure() {
    state.withLock { $0.statistics.servedFailures += 1 }
  }

  /// Counts a caller that got an expired value.
  func noteServedStale() {
    state.withLock { $0.statistics.servedStale += 1 }
  }

  /// Counts a previous value that a load has found to be still good.
  func noteRenewed() {
    state.withLock { $0.statistics.renewed += 1 }
  }

  /// Counts a loaded value that could not be stored.
  func noteUnstored() {
    state.withLock { $0.statistics.unstored += 1 }
  }

  /// Whether what a load brings is still to be stored.
  func isWanted(_ flight: FlightID) -> Bool {
    state.withLock { $0.table.isWanted(flight) }
  }
}

extension LoadStatistics {
  fileprivate mutating func add(_ time: Duration, isSuccess: Bool) {
    self.time += time
    if isSuccess { succeeded += 1 } else { failed += 1 }
  }
}

extension Result {
  fileprivate var isSuccess: Bool {
    switch self {
    case .success: true
    case .failure: false
    }
  }
}

/// Which load the present task is inside of, and what loads wait for.
enum FlightContext {
  // The innermost of any cache: what is around it waits for it.
  @TaskLocal private static var flight: FlightID?
  private static let graph = PerProcess { ForkSafeMutex(FlightGraph()) }

  /// Runs a body as a part of no load.
  static func leaving<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    try await $flight.withValue(nil) { try await body() }
  }

  static func entering(_ flight: FlightID, _ body: () async -> Void) async {
    await $flight.withValue(flight) { await body() }
  }

  /// Whether the present task may wait for a load; if it is inside of one itself, that one waits
  /// from now on.
  static func mayWait(_ id: WaiterID, for awaited: FlightID) -> Bool {
    guard let flight else { return true }
    return graph.own.value.withLock { $0.add(id, flight, waitsFor: awaited) }
  }

  static func waitEnded(_ id: WaiterID) {
    guard flight != nil else { return }
    graph.own.value.withLock { $0.remove(id) }
  }
}
