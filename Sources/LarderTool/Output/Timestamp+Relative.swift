import Larder

extension Timestamp {
  /// Returns the point in time relative to another: `in 7 d`, `3 min ago`, `now`, or `never`.
  ///
  /// It is rounded to the largest unit of which there are about two or more. So a value stored a
  /// moment ago for 7 d is shown as `7 d`, and 36 h is not shown as 2 d.
  func relativeText(at now: Timestamp) -> String {
    if self >= .never { return "never" }
    let difference = duration(since: now)
    // Read first, because the sign is lost when the length rounds to zero.
    let isPast = difference < .zero
    guard let length = Self.length(of: isPast ? .zero - difference : difference) else {
      return "now"
    }
    return isPast ? "\(length) ago" : "in \(length)"
  }

  /// The units, the largest first. A year is the mean Gregorian one.
  private static let units: [(name: String, seconds: UInt64)] = [
    ("y", 31_556_952), ("d", 86_400), ("h", 3600), ("min", 60), ("s", 1),
  ]

  /// Returns the length, rounded to a unit; nil for less than half a second.
  private static func length(of duration: Duration) -> String? {
    let (whole, attoseconds) = duration.components
    let seconds = whole.magnitude + (attoseconds.magnitude >= 500_000_000_000_000_000 ? 1 : 0)
    guard seconds > 0 else { return nil }
    // A unit is used from 1.95 of it; the last one, a second, always.
    for unit in units where unit.seconds == 1 || seconds >= unit.seconds / 20 * 39 {
      let count = seconds / unit.seconds + (seconds % unit.seconds * 2 >= unit.seconds ? 1 : 0)
      return "\(count) \(unit.name)"
    }
    return nil
  }
}
