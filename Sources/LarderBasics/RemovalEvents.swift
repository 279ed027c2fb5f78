public import Synchronization

#if LARDER_SCHEDULES || LARDER_THREAD_SANITIZER
  public import LarderSystem
#else
  import LarderSystem
#endif

/// The values that leave a cache, one after the other, for one task.
///
/// A buffer holds the newest events that the task has not taken. When it is full, the oldest event
/// is dropped, and the next event says how many were, so a slow task never slows the cache down.
/// Values in the buffer stay in memory.
///
/// The sequence begins when it is created, and ends with the cache, or when the task is cancelled.
/// Releasing it ends the buffering.
public struct RemovalEvents<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = Never

  let stream: AsyncStream<Event>
  let missed: MissedCount
  /// Writes the number of events dropped before an event into it.
  let setMissed: @Sendable (inout Event, Int) -> Void

  /// The number of dropped events that no event has reported yet.
  package final class MissedCount: Sendable {
    private let count = Atomic<Int>(0)

    func add() { count.add(1, ordering: .relaxed) }

    func take() -> Int { count.exchange(0, ordering: .relaxed) }
  }

  /// Starts to take events.
  public func makeAsyncIterator() -> Iterator {
    Iterator(events: stream.makeAsyncIterator(), missed: missed, setMissed: setMissed)
  }

  /// The iterator over the events of one sequence, for one task.
  public struct Iterator: AsyncIteratorProtocol {
    var events: AsyncStream<Event>.Iterator
    let missed: MissedCount
    let setMissed: @Sendable (inout Event, Int) -> Void

    /// Returns the next value that leaves, or nil at the end of the sequence.
    public mutating func next() async -> Event? {
      await next(isolation: #isolation)
    }

    /// Returns the next value that leaves, or nil at the end of the sequence.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
      guard var event = await events.next(isolation: actor) else { return nil }
      setMissed(&event, missed.take())
      return event
    }
  }
}

/// A value that left a cache, as an event of `RemovalEvents`.
public struct RemovalEvent<Key: Sendable, Value: Sendable>: Sendable {
  /// The key that it was stored under.
  public let key: Key
  /// The value.
  public let value: Value
  /// The cause.
  public let cause: RemovalCause
  /// The number of events dropped since the event before this one, because the buffer was full. The
  /// total is exact; the place in the sequence where they are missing is not.
  public package(set) var missedCount = 0

  package init(key: Key, value: Value, cause: RemovalCause) {
    self.key = key
    self.value = value
    self.cause = cause
  }
}

/// The cause for which a value left a cache.
public enum RemovalCause: String, Sendable, Hashable, CaseIterable {
  /// The caller removed it: by key, with everything else, or from memory with a call to trim.
  case explicit
  /// A store under the same key replaced it, or left no value; or, in memory, its file changed.
  case replaced
  /// Its expiry or the age limit had passed.
  case expired
  /// It was the least recently used value when a limit was exceeded or lowered, when the disk was
  /// full, or when the disk tier was trimmed by a call.
  case evicted
  /// Its bytes differed from the stored ones.
  case corrupt

  /// The place of the cause among all, for counters in an array.
  @inlinable
  package var index: Int {
    switch self {
    case .explicit: 0
    case .replaced: 1
    case .expired: 2
    case .evicted: 3
    case .corrupt: 4
    }
  }
}

/// The sequences that get an event for each value that leaves one cache.
@usableFromInline
package final class RemovalObservers<Event: Sendable>: Sendable {
  private struct Observer: Sendable {
    let continuation: AsyncStream<Event>.Continuation
    let missed: RemovalEvents<Event>.MissedCount
  }

  private struct State: Sendable {
    var observers: [Int: Observer] = [:]
    /// The calls of `finish()` that are still to come. Without any, there are no more events.
    var endCount = 1
    var isClosed = false
  }

  /// Whether there is any sequence, readable without the lock.
  @usableFromInline
  package let isObserved = Atomic<Bool>(false)
  // A forked child has a state of its own, because a thread that it does not have may hold the
  // lock. Its parent's sequences get nothing from it.
  private let states = PerProcess { ForkSafeMutex(State()) }
  private var state: PerProcess<ForkSafeMutex<State>>.Own { states.own }
  private let lastNumber = Atomic<Int>(0)
  private let setMissed: @Sendable (inout Event, Int) -> Void

  /// - Parameter setMissed: Writes the number of events dropped before an event into it.
  package init(_ setMissed: @escaping @Sendable (inout Event, Int) -> Void) {
    self.setMissed = setMissed
  }

  deinit {
    // Else a forked child may wait for ever: what follows makes the runtime build a generic type,
    // under a lock that a thread of the parent may have held at the fork.
    if isObserved.load(ordering: .relaxed) { finish() }
  }

  /// Adds a sequence that gets an event for each value that leaves from now on.
  package func add(bufferingNewest limit: Int) -> RemovalEvents<Event> {
    precondition(limit > 0, "a buffer must have room for at least one removal")
    let missed = RemovalEvents<Event>.MissedCount()
    let (stream, continuation) = AsyncStream<Event>.makeStream(
      bufferingPolicy: .bufferingNewest(limit))
    let new = lastNumber.add(1, ordering: .relaxed).newValue
    let number = state.value.withLock { state -> Int? in
      guard state.endCount > 0 else { return nil }
      state.observers[new] = Observer(continuation: continuation, missed: missed)
      isObserved.store(true, ordering: .relaxed)
      return new
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
    for observer in state.value.withLock({ $0.observers }).values {
      // An event dropped from a full buffer is released here, outside of every lock.
      if case .dropped = observer.continuation.yield(event) { observer.missed.add() }
    }
  }

  /// Lets no sequence end before one more call of `finish()`.
  package func putOffEnd() { state.value.withLock { $0.endCount += 1 } }

  /// Ends all sequences with their cache, which may be closed more than once.
  package func close() {
    if state.value.withLock({ !exchange(&$0.isClosed, with: true) }) { finish() }
  }

  /// Ends all sequences, after the events in their buffers.
  package func finish() {
    let observers = state.value.withLock { state in
      state.endCount -= 1
      return state.endCount > 0 ? [:] : state.observers
    }
    // Outside of the lock, because the end of a sequence takes it.
    for observer in observers.values { observer.continuation.finish() }
  }

  private func remove(_ number: Int) {
    let removed = state.value.withLock { state in
      defer { isObserved.store(!state.observers.isEmpty, ordering: .relaxed) }
      return state.observers.removeValue(forKey: number)
    }
    withExtendedLifetime(removed) {}
  }
}
