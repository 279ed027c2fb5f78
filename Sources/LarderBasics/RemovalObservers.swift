public import Synchronization

#if LARDER_SCHEDULES || LARDER_THREAD_SANITIZER
  public import LarderSystem
#else
  import LarderSystem
#endif

/// The sequences that get an event for each value that leaves one cache.
@usableFromInline
package final class RemovalObservers<Event: Sendable>: Sendable {
  private struct Observer: Sendable {
    let continuation: AsyncStream<Event>.Continuation
    let missed: RemovalEvents<Event>.MissedCount
  }

  private struct State: Sendable {
    var observers: [Int: Observer] = [:]
    var lastNumber = 0
    /// Whether the cache has ended, so that a new sequence would get no event.
    var hasEnded = false
  }

  /// Whether there is any sequence, readable without the lock.
  @usableFromInline
  package let isObserved = Atomic<Bool>(false)
  private let state = ForkSafeMutex(State())
  private let setMissed: @Sendable (inout Event, Int) -> Void

  /// - Parameter setMissed: Writes the number of events dropped before an event into it.
  package init(_ setMissed: @escaping @Sendable (inout Event, Int) -> Void) {
    self.setMissed = setMissed
  }

  deinit {
    finish()
  }

  /// Adds a sequence that gets an event for each value that leaves from now on.
  package func add(bufferingNewest limit: Int) -> RemovalEvents<Event> {
    precondition(limit > 0, "a buffer must have room for at least one removal")
    let missed = RemovalEvents<Event>.MissedCount()
    let (stream, continuation) = AsyncStream<Event>.makeStream(
      bufferingPolicy: .bufferingNewest(limit))
    let number = state.withLock { state -> Int? in
      guard !state.hasEnded else { return nil }
      state.lastNumber += 1
      state.observers[state.lastNumber] = Observer(continuation: continuation, missed: missed)
      isObserved.store(true, ordering: .relaxed)
      return state.lastNumber
    }
    if let number {
      continuation.onTermination = { [weak self] _ in self?.remove(number) }
    } else {
      continuation.finish()
    }
    return RemovalEvents(stream: stream, missed: missed, setMissed: setMissed)
  }

  /// Sends an event to every sequence. Called without a lock; waits for no task.
  @usableFromInline
  package func tell(_ event: Event) {
    for observer in state.withLock({ $0.observers }).values {
      // An event dropped from a full buffer is released here, outside of every lock.
      if case .dropped = observer.continuation.yield(event) { observer.missed.add() }
    }
  }

  /// Ends all sequences, after the events in their buffers.
  package func finish() {
    let observers = state.withLock { state in
      state.hasEnded = true
      return state.observers
    }
    // Outside of the lock, because the end of a sequence takes it.
    for observer in observers.values { observer.continuation.finish() }
  }

  private func remove(_ number: Int) {
    let removed = state.withLock { state in
      defer { isObserved.store(!state.observers.isEmpty, ordering: .relaxed) }
      return state.observers.removeValue(forKey: number)
    }
    withExtendedLifetime(removed) {}
  }
}
