import LarderLibc

/// A point on the clock that only goes forward, for measuring and waiting. It is unrelated to the
/// time of day. Corresponds to `clock_gettime(CLOCK_MONOTONIC)`.
package struct MonotonicTime: Sendable, Comparable {
  /// The nanoseconds since some moment before the process began, such as the system's start. Time
  /// in suspension does not count.
  package let nanoseconds: Int64

  /// The present. Needs no privilege and cannot fail with this clock. See: man 2 clock_gettime.
  package static var now: MonotonicTime { read(CLOCK_MONOTONIC) }

  /// The present as of the system's last tick, up to 4 ms behind and five times as fast to read.
  /// Corresponds to `clock_gettime(CLOCK_MONOTONIC_COARSE)`.
  package static var coarse: MonotonicTime { read(CLOCK_MONOTONIC_COARSE) }

  @inline(__always)
  private static func read(_ clock: clockid_t) -> MonotonicTime {
    #if LARDER_SCHEDULES
      return MonotonicTime(nanoseconds: Scheduler.now)
    #else
      var time = CTimespec()
      unsafe clock_gettime(clock, &time)
      return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    #endif
  }

  package static func < (a: MonotonicTime, b: MonotonicTime) -> Bool {
    a.nanoseconds < b.nanoseconds
  }

  /// Returns the point a duration later. Very long durations count as a century.
  package func advanced(by duration: Duration) -> MonotonicTime {
    // 3.2 × 10¹⁸ ns, so the sum fits into Int64 on a system that has run for less than 190 years.
    let century: Int64 = 100 * 365 * 86_400
    let (seconds, attoseconds) = duration.boundedComponents
    let capped = min(max(seconds, 0), century) * 1_000_000_000
    return MonotonicTime(nanoseconds: nanoseconds + capped + max(0, attoseconds / 1_000_000_000))
  }

  /// Returns the time from `start` to this point.
  package func duration(since start: MonotonicTime) -> Duration {
    .nanoseconds(nanoseconds - start.nanoseconds)
  }

  /// The point in the form that `pthread_cond_timedwait` takes.
  var timespec: CTimespec {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return CTimespec(tv_sec: .init(seconds), tv_nsec: .init(rest))
  }
}

// The property above hides the C type in the struct.
typealias CTimespec = timespec
