import LarderBasics
import LarderDisk
import LarderSystem
import Synchronization

/// The single flight of loads: runs one load for all concurrent requests for a key. `FlightTable`
/// decides; this class locks, starts tasks and resumes waiters.
package final class FlightControl<Value: Sendable>: Sendable {
  /// A waiting caller. One that is resumed with nil came too late for the load and asks again.
  private typealias Waiter = CheckedContinuation<Value?, any Error>

  private struct State {
    var table = FlightTable<Waiter>()
    var tasks: [FlightID: Task<Void, Never>] = [:]
    var failures = FailureTable()
    var statistics = LoadStatistics()
  }

  private let state = ForkSafeMutex(State())
  /// Whether any load was ever started. Without loads, a store takes no lock here.
  // Set before a load begins and read after a change is visible, both sequentially consistent: if a
  // change reads false, it was made before the load began.
  private let isUsed = Atomic<Bool>(false)

  init() {}

  /// Waits for the value of a key, from the running load or a new one.
  ///
  /// A cancelled caller stops waiting; with the last one the load is cancelled. A caller that came
  /// after a change of the key waits for a load that began after it.
  func value(
    of key: CacheKey, clock: WallClock, options: LoadOptions = LoadOptions(),
    _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) async throws -> Value {
    while true {
      giveUpRefresh(of: key, at: clock.now())
      if let value = try await wait(for: key, options, load) { return value }
    }
  }

  /// Ends a refresh that has taken too long. The callers that wait for it ask again.
  private func giveUpRefresh(of key: CacheKey, at now: Timestamp) {
    let (waiters, task) = state.withLock { state -> ([Waiter], Task<Void, Never>?) in
      guard let overdue = state.table.giveUpRefresh(of: key, at: now) else { return ([], nil) }
      return (overdue.waiters, state.tasks.removeValue(forKey: overdue.flight))
    }
    for waiter in waiters { waiter.resume(returning: nil) }
    task?.cancel()
  }

  private func wait(
    for key: CacheKey, _ options: LoadOptions,
    _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) async throws -> Value? {
    let id = WaiterID()
    isUsed.store(true, ordering: .sequentiallyConsistent)
    // Only here, because the cancellation handler cannot run once its function has returned.
    defer {
      state.withLock { $0.table.forget(id) }
      LoadContext.waitEnded(id)
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // The continuation is put into the table under the lock and resumed outside of it.
        let joining = state.withLock { state in
          let joining = state.table.join(key, id, continuation, options: options) {
            LoadContext.mayWait(id, for: $0)
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

  /// Starts a load without a waiting caller, unless one of the key is running or failed lately.
  ///
  /// - Parameter time: The time after which the next caller gives the load up.
  func refresh(
    _ key: CacheKey, at now: Timestamp, within time: Duration,
    _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) {
    isUsed.store(true, ordering: .sequentiallyConsistent)
    giveUpRefresh(of: key, at: now)
    let flight = state.withLock { state -> FlightID? in
      guard state.failures.error(for: key, at: now) == nil else { return nil }
      let start = now.adding(seconds: -1)
      return state.table.refresh(key, during: start..<max(now.adding(time), start))
    }
    if let flight { start(flight, load) }
  }

  /// Runs a load in a task of its own, whose `LoadContext` names the load.
  private func start(
    _ flight: FlightID, _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) {
    // Unstructured, so that the load outlives the caller that started it.
    let task = Task {
      let start = MonotonicTime.now
      await LoadContext.entering(flight) {
        do {
          let value = try await load(flight)
          self.finish(flight, .success(value), since: start)
        } catch {
          self.finish(flight, .failure(error), since: start)
        }
      }
    }
    // The load may have ended already, or its last caller may have been cancelled.
    let isWanted = state.withLock { state in
      state.statistics.started += 1
      guard state.table.isGoingOn(flight) else { return false }
      state.tasks[flight] = task
      return true
    }
    if !isWanted { task.cancel() }
  }

  /// Ends a flight, counts it, and tells its callers. A success ends the kept error of its key.
  private func finish(
    _ flight: FlightID, _ result: Result<Value, any Error>, since start: MonotonicTime
  ) {
    let time = MonotonicTime.now.duration(since: start)
    let isSuccess = if case .success = result { true } else { false }
    // The task is taken out as well, because its end may release what its closure captured.
    let (audience, task, old) = state.withLock { state in
      state.statistics.time += time
      if isSuccess { state.statistics.succeeded += 1 } else { state.statistics.failed += 1 }
      let audience = state.table.finish(flight)
      let old = isSuccess ? audience.key.flatMap { state.failures.remove($0) } : nil
      return (audience, state.tasks.removeValue(forKey: flight), old)
    }
    withExtendedLifetime((task, old)) {}
    for waiter in audience.answered { waiter.resume(with: result.map { $0 }) }
    for waiter in audience.late { waiter.resume(returning: nil) }
  }

  /// Ends one caller's wait; if it was the last, cancels the load.
  private func cancel(_ id: WaiterID) {
    let (cancellation, task) = state.withLock { state in
      let cancellation = state.table.cancel(id)
      let task = cancellation.abandoned.flatMap { state.tasks.removeValue(forKey: $0) }
      return (cancellation, task)
    }
    // The callers first, because they need not wait until the load notices.
    cancellation.waiter?.resume(throwing: CancellationError())
    for waiter in cancellation.late { waiter.resume(returning: nil) }
    task?.cancel()
  }

  /// Records that a key's value was stored or removed.
  ///
  /// - Parameter isOwn: Whether a load has stored its value, which supersedes no load.
  /// - Returns: The kept errors that are forgotten, to be released with no name held.
  func supersede(_ key: CacheKey, isOwn: Bool = false) -> [any Error] {
    guard isUsed.load(ordering: .sequentiallyConsistent) else { return [] }
    return state.withLock { state -> [any Error] in
      if !isOwn { state.table.supersede(key) }
      return state.failures.remove(key).map { [$0] } ?? []
    }
  }

  /// Records that everything was removed.
  ///
  /// - Returns: As `supersede(_:isOwn:)` does.
  func supersedeAll() -> [any Error] {
    guard isUsed.load(ordering: .sequentiallyConsistent) else { return [] }
    return state.withLock { state -> [any Error] in
      state.table.supersedeAll()
      return state.failures.removeAll()
    }
  }

  /// Forgets all kept errors, and returns them as `supersede(_:isOwn:)` does.
  func forgetFailures() -> [any Error] { state.withLock { $0.failures.removeAll() } }

  /// The keys whose loads are running.
  var keys: [CacheKey] { state.withLock { $0.table.keys } }

  /// The counters of all loads.
  var statistics: LoadStatistics { state.withLock { $0.statistics } }

  /// Returns the kept error of a load that failed a short time ago; nil for none.
  func failure(for key: CacheKey, at now: Timestamp) -> (any Error)? {
    state.withLock { $0.failures.error(for: key, at: now) }
  }

  /// Keeps the error of a load until a point in time, unless the key was changed since the load
  /// began or no caller waits for the load any more.
  func keepFailure(
    _ error: any Error, for key: CacheKey, of flight: FlightID, from now: Timestamp,
    until expiry: Timestamp
  ) {
    let old = state.withLock { state -> (any Error)? in
      guard state.table.isWanted(flight) else { return nil }
      return state.failures.add(error, for: key, from: now, until: expiry)
    }
    withExtendedLifetime(old) {}
  }

  /// The options of the callers that wait for a load.
  func options(of flight: FlightID) -> [LoadOptions] {
    state.withLock { $0.table.options(of: flight) }
  }

  /// The number of waiting callers.
  var waiterCount: Int { state.withLock { $0.table.waiterCount } }

  /// Changes the counters.
  func count(_ change: (inout LoadStatistics) -> Void) { state.withLock { change(&$0.statistics) } }

  /// Counts a look at the disk that does not decide how its call counts: `hitRate` has each once.
  ///
  /// - Parameter isVainHit: Whether it found a value that answers no caller, as in a background
  ///   load. Otherwise a miss is left out: its own, or the one before it if it answers the caller.
  func countLookAgain(isVainHit: Bool) {
    count { if isVainHit { $0.repeatedHits += 1 } else { $0.repeatedMisses += 1 } }
  }

  /// Records that a load has found a value: no answer to a caller with `.reload`.
  func find(_ flight: FlightID) { state.withLock { $0.table.find(flight) } }

  /// Whether the value of a load is still to be stored.
  func isWanted(_ flight: FlightID) -> Bool { state.withLock { $0.table.isWanted(flight) } }

  /// Whether all callers that wait for a load share it with other processes.
  func isShared(_ flight: FlightID) -> Bool {
    !options(of: flight).contains { $0.singleFlight == .process }
  }
}

/// A way to take a task out of the load that started it.
///
/// A load that would wait for itself fails with `.loadCycle`. Everything that a load calls is a
/// part of it, and so is every task that it starts, except with `Task.detached`, because Swift does
/// not tell whether the load waits for a task. A task that the load does not wait for may ask for
/// the key that is being loaded, in this way:
///
/// ```swift
/// let page = try await pages.value(forKey: url) {
///   Task { try await LoadContext.leaving { try await thumbnail(of: url) } }
///   return try await fetch(url)
/// }
/// ```
public enum LoadContext {
  // The innermost load, of any cache: the loads around it wait for it.
  @TaskLocal private static var flight: FlightID?
  private static let graph = PerProcess { ForkSafeMutex(FlightGraph()) }

  /// Runs an operation that is a part of no load, as in `Task.detached`, but in the caller's task.
  ///
  /// If a load waits for such an operation, which waits for the load, both wait for ever.
  public static func leaving<Result>(
    _ operation: () async throws -> Result
  ) async rethrows -> Result {
    try await $flight.withValue(nil) { try await operation() }
  }

  static func entering(_ flight: FlightID, _ body: () async -> Void) async {
    await $flight.withValue(flight) { await body() }
  }

  /// Whether the present task may wait for a load. If the task is a part of a load itself, records
  /// that this load waits from now on.
  static func mayWait(_ id: WaiterID, for awaited: FlightID) -> Bool {
    guard let flight else { return true }
    return graph.own.value.withLock { $0.add(id, flight, waitsFor: awaited) }
  }

  /// Whether another load waits for a load. In O(w) for w waits between loads.
  static func isNested(_ flight: FlightID) -> Bool {
    graph.own.value.withLock { $0.waits.values.contains { $0.values.contains(flight) } }
  }

  static func waitEnded(_ id: WaiterID) {
    guard let flight else { return }
    graph.own.value.withLock { $0.remove(id, of: flight) }
  }
}
