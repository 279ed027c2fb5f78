import Larder

extension Timestamp {
  /// The point in time as seen from another: `in 7 d`, `3 min ago`, `now`, or `never`.
  ///
  /// Rounded to whole numbers of the largest unit of which there are two, or nearly, so that what
  /// was stored for 7 d a moment ago is there for 7 d, and 36 h are not 2 d.
  func relativeText(at now: Timestamp) -> String {
    if self >= .never { return "never" }
    let difference = duration(since: now)
    // The sign goes first: it is lost when a part of a second rounds to none.
    let isPast = difference < .zero
    guard let length = Self.length(of: isPast ? .zero - difference : difference) else {
      return "now"
    }
    return isPast ? "\(length) ago" : "in \(length)"
  }

  /// The largest first; a year is the mean Gregorian one.
  private static let units: [(name: String, seconds: UInt64)] = [
    ("y", 31_556_952), ("d", 86_400), ("h", 3600), ("min", 60), ("s", 1),
  ]

  /// The length to the nearest unit, nil for less than half a second.
  private static func length(of duration: Duration) -> String? {
    let (whole, attoseconds) = duration.components
    let seconds = whole.magnitude + (attoseconds.magnitude >= 500_000_000_000_000_000 ? 1 : 0)
    guard seconds > 0 else { return nil }
    // From 1.95 on: the last unit is one second, of which one will do.
    for unit in units where unit.seconds == 1 || seconds >= unit.seconds / 20 * 39 {
      let count = seconds / unit.seconds + (seconds % unit.seconds * 2 >= unit.seconds ? 1 : 0)
      return "\(count) \(unit.name)"
    }
    return nil
  }
}
