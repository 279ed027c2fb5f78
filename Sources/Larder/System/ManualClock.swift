import Synchronization

/// A clock that stands still until it is moved, for tests and fixtures.
public final class ManualClock: Sendable {
  private let time: Mutex<Timestamp>

  /// Creates a clock that stands at a time.
  public init(_ start: Timestamp) {
    time = Mutex(start)
  }

  /// The time it stands at; setting it moves the clock, also backwards.
  public var now: Timestamp {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  /// Moves the clock by a duration, backwards when it is negative.
  public func advance(by duration: Duration) {
    time.withLock { $0 = $0.adding(duration) }
  }

  /// The clock as a configuration takes it.
  public var wallClock: WallClock {
    WallClock { [self] in now }
  }
}
