import Larder
import LarderLibc

extension Timestamp {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The time by the process's time zone as `ls` shows a recent one: `Nov 21 09:05`. Corresponds to
  /// `localtime_r`.
  var listText: String {
    // All zero for a year that `int` cannot hold: 1 January, midnight, instead of a trap.
    var fields = unsafe tm()
    var seconds = time_t(clamping: seconds)
    _ = unsafe localtime_r(&seconds, &fields)
    let day = unsafe String(fields.tm_mday).aligned(toWidth: 2)
    let clock = unsafe [fields.tm_hour, fields.tm_min].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return unsafe "\(Self.months[Int(fields.tm_mon)]) \(day) \(clock.joined(separator: ":"))"
  }
}
