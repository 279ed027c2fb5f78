import Synchronization

/// A clock that stands still until it is moved, for tests and fixtures.
public final class ManualClock: Sendable {
  // A separate object, so that the closure of `wallClock` does not retain this one.
  private let time: Time

  /// Creates a clock that shows a time.
  public init(_ start: Timestamp) {
    let time = Time(start)
    self.time = time
    wallClock = WallClock { time.now.withLock { $0 } }
  }

  /// The time that the clock shows. Setting it moves the clock, also backwards.
  public var now: Timestamp {
    get { time.now.withLock { $0 } }
    set { time.now.withLock { $0 = newValue } }
  }

  /// Moves the clock by a duration, backwards if it is negative.
  public func advance(by duration: Duration) {
    time.now.withLock { $0 = $0.adding(duration) }
  }

  /// The clock as a configuration takes it.
  ///
  /// Always the same value, so that caches with this clock agree that they have the same.
  public let wallClock: WallClock
}

private final class Time: Sendable {
  let now: Mutex<Timestamp>

  init(_ start: Timestamp) {
    now = Mutex(start)
  }
}
