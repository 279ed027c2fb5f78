#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A point in time by the calendar and the local wall clock.
package struct LocalTime: Sendable, Hashable {
  /// 1 to 12.
  package let month: Int
  /// 1 to 31.
  package let day: Int
  /// 0 to 23.
  package let hour: Int
  /// 0 to 59.
  package let minute: Int

  /// Converts a time by the time zone of the process. Corresponds to `localtime_r`.
  package init(_ time: Timestamp) {
    // All zero for a year that `int` cannot hold: 1 January, midnight, instead of a trap.
    var fields = unsafe tm()
    var seconds = time_t(clamping: time.seconds)
    _ = unsafe localtime_r(&seconds, &fields)
    month = unsafe Int(fields.tm_mon) + 1
    day = unsafe Int(fields.tm_mday)
    hour = unsafe Int(fields.tm_hour)
    minute = unsafe Int(fields.tm_min)
  }
}
