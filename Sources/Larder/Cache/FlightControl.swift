import Synchronization

/// Makes one load of all concurrent requests for a key: the effects around `FlightTable`.
final class FlightControl<Value: Sendable>: Sendable {
  typealias Table = FlightTable<CheckedContinuation<Value, any Error>>
  typealias FlightID = Table.FlightID

  private struct State {
    var table = Table()
    var tasks: [FlightID: Task<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  init() {}

  /// Waits for the value of a key: of the load that is going on, or of a new one.
  ///
  /// A caller that is cancelled stops waiting; the load goes on for the others, and is cancelled when
  /// nobody is left.
  func value(
    of key: CacheKey, _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) async throws -> Value {
    let id = state.withLock { $0.table.makeWaiter() }
    defer { state.withLock { $0.table.forget(id) } }
    let caller = FlightContext.flight(of: ObjectIdentifier(self)).flatMap { $0 as? FlightID }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let joining = state.withLock { $0.table.join(key, id, continuation, caller: caller) }
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

  private func start(
    _ flight: FlightID, _ load: @escaping @Sendable (FlightID) async throws -> Value
  ) {
    let task = Task {
      await FlightContext.entering(flight, of: ObjectIdentifier(self)) {
        do {
          let value = try await load(flight)
          self.finish(flight, .success(value))
        } catch {
          self.finish(flight, .failure(error))
        }
      }
    }
    // The load may have ended already, or nobody may want it any more.
    let isWanted = state.withLock { state in
      guard state.table.isGoingOn(flight) else { return false }
      state.tasks[flight] = task
      return true
    }
    if !isWanted { task.cancel() }
  }

  private func finish(_ flight: FlightID, _ result: Result<Value, any Error>) {
    let waiters = state.withLock { state in
      state.tasks[flight] = nil
      return state.table.finish(flight)
    }
    for waiter in waiters { waiter.resume(with: result) }
  }

  private func cancel(_ id: Table.WaiterID) {
    let (waiter, task) = state.withLock { state in
      let cancellation = state.table.cancel(id)
      let task = cancellation.abandoned.flatMap { state.tasks.removeValue(forKey: $0) }
      return (cancellation.waiter, task)
    }
    waiter?.resume(throwing: CancellationError())
    task?.cancel()
  }

  /// Takes note that a key's value was stored or removed.
  func supersede(_ key: CacheKey) {
    state.withLock { $0.table.supersede(key) }
  }

  /// Takes note that everything was removed.
  func supersedeAll() {
    state.withLock { $0.table.supersedeAll() }
  }

  /// The number of callers that wait.
  var waiterCount: Int { state.withLock { $0.table.waiterCount } }

  /// Whether what a load brings is still to be stored.
  func isWanted(_ flight: FlightID) -> Bool {
    state.withLock { $0.table.isWanted(flight) }
  }
}

/// Which loads the present task is inside of, by the cache they belong to.
private enum FlightContext {
  @TaskLocal private static var flights: [ObjectIdentifier: any Sendable] = [:]

  static func flight(of control: ObjectIdentifier) -> (any Sendable)? { flights[control] }

  static func entering(
    _ flight: any Sendable, of control: ObjectIdentifier, _ body: () async -> Void
  ) async {
    var inner = flights
    inner[control] = flight
    await $flights.withValue(inner) { await body() }
  }
}
