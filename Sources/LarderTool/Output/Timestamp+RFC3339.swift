import Larder

extension Timestamp {
  /// The point in time in UTC: `2242-03-16T12:56:32Z`, with nine decimals unless they are all 0.
  ///
  /// Years outside of 0000 to 9999, which RFC 3339 has no form for, are written with a sign as
  /// ISO 8601 does.
  var rfc3339: String {
    let fraction = nanoseconds == 0 ? "" : "." + Int64(nanoseconds).digits(9)
    return "\(dateText)T\(timeOfDayText)\(fraction)Z"
  }

  /// The day in UTC: `2242-03-16`.
  var dateText: String {
    let date = CivilDate(daysSince1970: daysAndSeconds.days)
    return "\(Self.text(ofYear: date.year))-\(date.month.digits(2))-\(date.day.digits(2))"
  }

  /// The time of day in UTC to the second: `12:56:32`.
  var timeOfDayText: String {
    let seconds = daysAndSeconds.seconds
    return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0.digits(2) }
      .joined(separator: ":")
  }

  /// The days since 1970, rounded down, and the seconds of the day.
  private var daysAndSeconds: (days: Int64, seconds: Int64) {
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    return rest < 0 ? (days - 1, rest + 86_400) : (days, rest)
  }

  private static func text(ofYear year: Int64) -> String {
    switch year {
    case ..<0: "-" + (-year).digits(4)
    case 10_000...: "+" + year.digits(4)
    default: year.digits(4)
    }
  }
}

extension Int64 {
  /// The number with zeros in front up to a count of digits.
  fileprivate func digits(_ count: Int) -> String {
    let text = String(self)
    return String(repeating: "0", count: Swift.max(0, count - text.utf8.count)) + text
  }
}
