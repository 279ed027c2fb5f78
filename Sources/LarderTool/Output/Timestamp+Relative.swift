import Larder

extension Timestamp {
  /// The point in time as seen from another: `in 6 d`, `3 min ago`, `now`, or `never`.
  ///
  /// Whole numbers of the largest unit, rounded towards the present.
  func relativeText(at now: Timestamp) -> String {
    if self >= .never { return "never" }
    let seconds = duration(since: now).components.seconds
    guard let length = Self.length(of: seconds.magnitude) else { return "now" }
    return seconds < 0 ? "\(length) ago" : "in \(length)"
  }

  /// The largest first; a year is the mean Gregorian one.
  private static let units: [(name: String, seconds: UInt64)] = [
    ("y", 31_556_952), ("d", 86_400), ("h", 3600), ("min", 60), ("s", 1),
  ]

  /// The whole number of the largest unit, nil for less than a second.
  private static func length(of seconds: UInt64) -> String? {
    units.first { seconds >= $0.seconds }.map { "\(seconds / $0.seconds) \($0.name)" }
  }
}
