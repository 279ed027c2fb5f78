public import Synchronization

/// The sequences that hear of what leaves one cache.
@usableFromInline
final class RemovalObservers<Key: Sendable, Value: Sendable>: Sendable {
  typealias Event = RemovalEvent<Key, Value>

  private struct Observer: Sendable {
    let continuation: AsyncStream<Event>.Continuation
    let missed: RemovalEvents<Key, Value>.MissedCount
  }

  private struct State: Sendable {
    var observers: [Int: Observer] = [:]
    var lastNumber = 0
  }

  /// Whether there is any, for a look without the lock.
  @usableFromInline
  let isObserved = Atomic<Bool>(false)
  private let state = Mutex(State())

  init() {}

  deinit {
    for observer in state.withLock({ $0.observers }).values { observer.continuation.finish() }
  }

  /// Adds a sequence that hears of what leaves from now on.
  func add(bufferingNewest limit: Int) -> RemovalEvents<Key, Value> {
    let missed = RemovalEvents<Key, Value>.MissedCount()
    let (stream, continuation) = AsyncStream<Event>.makeStream(
      bufferingPolicy: .bufferingNewest(limit))
    let number = state.withLock { state in
      state.lastNumber += 1
      state.observers[state.lastNumber] = Observer(continuation: continuation, missed: missed)
      isObserved.store(true, ordering: .relaxed)
      return state.lastNumber
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return RemovalEvents(stream: stream, missed: missed)
  }

  /// Tells every sequence that a value left. Called without a lock; nobody is waited for.
  @usableFromInline
  func tell(_ key: Key, _ value: Value, _ cause: RemovalCause) {
    let event = Event(key: key, value: value, cause: cause)
    for observer in state.withLock({ $0.observers }).values {
      // What a full buffer lets go of is released here, outside of every lock.
      if case .dropped = observer.continuation.yield(event) { observer.missed.add() }
    }
  }

  private func remove(_ number: Int) {
    let removed = state.withLock { state in
      defer { isObserved.store(!state.observers.isEmpty, ordering: .relaxed) }
      return state.observers.removeValue(forKey: number)
    }
    withExtendedLifetime(removed) {}
  }
}
