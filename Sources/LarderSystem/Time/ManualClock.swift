import Synchronization

/// A clock that stands still until it is moved, for tests and fixtures.
public final class ManualClock: Sendable {
  // In a class of its own, so that the closure of the clock does not hold the clock itself.
  private let time: Time

  /// Creates a clock that stands at a time.
  public init(_ start: Timestamp) {
    let time = Time(start)
    self.time = time
    wallClock = WallClock { time.now.withLock { $0 } }
  }

  /// The time it stands at; setting it moves the clock, also backwards.
  public var now: Timestamp {
    get { time.now.withLock { $0 } }
    set { time.now.withLock { $0 = newValue } }
  }

  /// Moves the clock by a duration, backwards when it is negative.
  public func advance(by duration: Duration) {
    time.now.withLock { $0 = $0.adding(duration) }
  }

  /// The clock as a configuration takes it.
  ///
  /// The same value each time, so that caches which are given it agree on their clock.
  public let wallClock: WallClock
}

private final class Time: Sendable {
  let now: Mutex<Timestamp>

  init(_ start: Timestamp) {
    now = Mutex(start)
  }
}
