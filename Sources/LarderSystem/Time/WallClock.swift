import LarderLibc
import Synchronization

/// The source of the time of day for a cache. A test or a fixture can replace it.
///
/// Stamps and expiries are compared with files that other processes and people wrote, so the time
/// is that of the wall clock and never a monotonic one.
public struct WallClock: Sendable {
  @usableFromInline let read: @Sendable () -> Timestamp
  // Closures cannot be compared. A copy of a clock keeps the identity, which tells whether two
  // caches have the same clock.
  private let identity = Identity()

  /// The identity of one clock, shared by all its copies.
  private final class Identity: Sendable {
    let lastUse = PerProcess { ForkSafeMutex<(directory: FileIdentity, time: Timestamp)?>(nil) }
  }

  /// Creates a clock from a function that returns the present time. Any thread may call it.
  public init(_ read: @escaping @Sendable () -> Timestamp) {
    self.read = read
  }

  /// Whether two values are copies of one clock.
  ///
  /// Two clocks of one function are different, so caches on one directory must get the same value.
  package func isSame(as other: WallClock) -> Bool { identity === other.identity }

  /// Whether the clock is the caller's, whose function may use a cache.
  package var isOwn: Bool { !isSame(as: .system) && !isSame(as: .systemCoarse) }

  /// Remembers the last stamp that this clock gave to a file in a directory, until it is asked to
  /// remember another.
  ///
  /// Stamps run ahead of a clock that stands still, by a nanosecond each. A cache that opens the
  /// directory again with the same clock continues after the last stamp.
  package func remember(_ time: Timestamp, in directory: FileIdentity) {
    identity.lastUse.own.value.withLock { $0 = (directory, time) }
  }

  /// Returns the remembered stamp for a directory.
  package func lastStamp(in directory: FileIdentity) -> Timestamp? {
    identity.lastUse.own.value.withLock { $0?.directory == directory ? $0?.time : nil }
  }

  /// Returns the present time.
  @inlinable
  public func now() -> Timestamp { read() }

  /// The system's clock, to the nanosecond. Corresponds to `clock_gettime(CLOCK_REALTIME)`.
  public static let system = WallClock { WallClock.read(CLOCK_REALTIME) }

  /// The system's clock as of its last tick, up to 4 ms behind and five times as fast to read.
  /// Corresponds to `clock_gettime(CLOCK_REALTIME_COARSE)`.
  public static let systemCoarse = WallClock { WallClock.read(CLOCK_REALTIME_COARSE) }

  /// Reads a clock of the system.
  ///
  /// - Complexity: O(1), without a system call if the vDSO has the clock. See: man 7 vdso.
  @inline(__always)
  private static func read(_ clock: clockid_t) -> Timestamp {
    #if LARDER_SCHEDULES
      return clock == CLOCK_REALTIME ? ScheduledFiles.wallTime : ScheduledFiles.coarseWallTime
    #else
      var time = timespec()
      unsafe clock_gettime(clock, &time)
      // Assigned directly: the kernel's nanoseconds need no carry.
      var now = Timestamp(seconds: Int64(time.tv_sec))
      now.nanoseconds = Int32(truncatingIfNeeded: time.tv_nsec)
      return now
    #endif
  }
}

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
  public func advance(by duration: Duration) { time.now.withLock { $0 = $0.adding(duration) } }

  /// The clock as a configuration takes it.
  ///
  /// Always the same value, so that caches with this clock agree that they have the same.
  public let wallClock: WallClock
}

private final class Time: Sendable {
  let now: ForkSafeMutex<Timestamp>

  init(_ start: Timestamp) { now = ForkSafeMutex(start) }
}
