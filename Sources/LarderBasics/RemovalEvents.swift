import LarderSystem
import Synchronization

/// The values that leave a cache, one after the other, for one task.
///
/// A buffer holds the newest of those that the task has not taken. When it is full the oldest goes,
/// and the next event says how many did: a slow task never slows the cache. What is in the buffer
/// stays in memory.
///
/// The sequence begins when it is asked for, and ends with the cache, or when the task is
/// cancelled. Letting go of it ends its buffering.
public struct RemovalEvents<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = Never

  let stream: AsyncStream<Event>
  let missed: MissedCount
  /// Writes into an event how many were left out before it.
  let setMissed: @Sendable (inout Event, Int) -> Void

  /// Removals that were left out and that no event has told of yet.
  package final class MissedCount: Sendable {
    private let count = Atomic<Int>(0)

    func add() { count.add(1, ordering: .relaxed) }

    func take() -> Int { count.exchange(0, ordering: .relaxed) }
  }

  /// Begins to take events.
  public func makeAsyncIterator() -> Iterator {
    Iterator(events: stream.makeAsyncIterator(), missed: missed, setMissed: setMissed)
  }

  /// Takes the events of one sequence; for one task.
  public struct Iterator: AsyncIteratorProtocol {
    var events: AsyncStream<Event>.Iterator
    let missed: MissedCount
    let setMissed: @Sendable (inout Event, Int) -> Void

    /// The next value that leaves, or nil at the end of the sequence.
    public mutating func next() async -> Event? {
      await next(isolation: #isolation)
    }

    /// The next value that leaves, or nil at the end of the sequence.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
      guard var event = await events.next(isolation: actor) else { return nil }
      setMissed(&event, missed.take())
      return event
    }
  }
}

/// A value that left a cache, as a sequence of removals tells of it.
public struct RemovalEvent<Key: Sendable, Value: Sendable>: Sendable {
  /// The key that it was stored under.
  public let key: Key
  /// The value.
  public let value: Value
  /// Why it left.
  public let cause: RemovalCause
  /// How many removals the sequence left out since the event before this one, because its buffer
  /// was full. All of them together are exact; where in the sequence they are missing is not.
  public package(set) var missedCount = 0

  package init(key: Key, value: Value, cause: RemovalCause) {
    self.key = key
    self.value = value
    self.cause = cause
  }
}

/// Why a value left a cache.
public enum RemovalCause: String, Sendable, Hashable, CaseIterable {
  /// The caller removed it: by key, with everything else, or with a call to trim.
  case explicit
  /// A store under the same key took its place, or was rejected and left nothing in its place.
  case replaced
  /// Its expiry or the age limit had passed.
  case expired
  /// It was the least recently used when a limit was passed or lowered.
  case evicted
  /// Its bytes were not those that were stored.
  case corrupt
}
