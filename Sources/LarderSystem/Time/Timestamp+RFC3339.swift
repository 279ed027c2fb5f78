extension Timestamp {
  /// The point in time in UTC: `2242-03-16T12:56:32Z`, with nine decimals unless they are all 0.
  ///
  /// Years outside of 0000 to 9999, which RFC 3339 lacks, are written with a sign as in ISO 8601.
  package var rfc3339: String {
    let fraction = nanoseconds == 0 ? "" : "." + Int64(nanoseconds).digits(9)
    return "\(dateText)T\(timeOfDayText)\(fraction)Z"
  }

  /// The day in UTC: `2242-03-16`.
  package var dateText: String {
    let date = CivilDate(daysSince1970: daysAndSeconds.days)
    return "\(Self.text(ofYear: date.year))-\(date.month.digits(2))-\(date.day.digits(2))"
  }

  /// The time of day in UTC to the second: `12:56:32`.
  package var timeOfDayText: String {
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

extension Timestamp: CustomStringConvertible {
  /// The point in time in UTC: `2242-03-16T12:56:32Z`, with nine decimals unless they are all 0.
  public var description: String { rfc3339 }
}

extension Timestamp {
  /// The first point in time in RFC 3339: 0000-01-01T00:00:00Z.
  package static let firstOfRFC3339 = Timestamp(seconds: -62_167_219_200)
  /// The last point in time in RFC 3339: 9999-12-31T23:59:59.999999999Z.
  package static let lastOfRFC3339 = Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999)

  /// Reads a point in time as `rfc3339` writes it, with one to nine decimals or none; nil for any
  /// other text, including zones other than `Z`.
  package init?(rfc3339 text: some StringProtocol) {
    let bytes = Array(text.utf8)
    let marks: [(Int, Character)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"),
      marks.allSatisfy({ bytes[$0] == $1.asciiValue })
    else { return nil }
    let numbers = [0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19].map { Self.number(bytes[$0]) }
    guard let year = numbers[0], let month = numbers[1], let day = numbers[2],
      let hour = numbers[3], hour < 24, let minute = numbers[4], minute < 60,
      let second = numbers[5], second < 60,
      let date = CivilDate(year: year, month: month, day: day),
      let nanoseconds = Self.nanoseconds(bytes[19..<(bytes.count - 1)])
    else { return nil }
    let time = hour * 3600 + minute * 60 + second
    self.init(seconds: date.daysSince1970 * 86_400 + time, nanoseconds: nanoseconds)
  }

  /// Returns the fraction of a second after the dot.
  private static func nanoseconds(_ text: ArraySlice<UInt8>) -> Int64? {
    guard let dot = text.first else { return 0 }
    let digits = text.dropFirst()
    guard dot == UInt8(ascii: "."), (1...9).contains(digits.count) else { return nil }
    return number(digits + Array(repeating: UInt8(ascii: "0"), count: 9 - digits.count))
  }

  /// Returns the number that the digits spell; nil if there is any other character.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    digits.reduce(Int64?.some(0)) { number, byte in
      guard let number, byte.isDigit else { return nil }
      return number * 10 + Int64(byte & 15)
    }
  }
}

extension BinaryInteger {
  /// Returns the number with leading zeros up to a number of digits.
  package func digits(_ count: Int, radix: Int = 10) -> String {
    let text = String(self, radix: radix)
    return String(repeating: "0", count: Swift.max(0, count - text.utf8.count)) + text
  }
}

/// A day of the proleptic Gregorian calendar, with a year 0 before year 1.
package struct CivilDate: Sendable, Hashable {
  /// Any year; 0 is the year before 1.
  package let year: Int64
  /// 1 to 12.
  package let month: Int64
  /// 1 to 31.
  package let day: Int64

  /// Creates the day a number of days after 1970-01-01, or before it if negative.
  ///
  /// Counts in eras of 400 years of 146,097 days that begin on the 1st of March of year 0, so that
  /// a leap day is the last day of its year. Source: Howard Hinnant, "chrono-Compatible Low-Level
  /// Date Algorithms", civil_from_days. Exact for every day in the range of `Int64` seconds.
  package init(daysSince1970 days: Int64) {
    let shifted = days + 719_468
    // Division rounds towards zero, but days before the era must be rounded down.
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let leaps = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
    let yearOfEra = (dayOfEra - leaps) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Creates the day of a year from 0 to 9999, a month and a day; nil if there is no such day.
  package init?(year: Int64, month: Int64, day: Int64) {
    guard (1...12).contains(month), (1...31).contains(day), (0...9999).contains(year) else {
      return nil
    }
    (self.year, self.month, self.day) = (year, month, day)
    // The count of days ignores the lengths of months, so a day that its month lacks comes back as
    // a day of the next month.
    guard CivilDate(daysSince1970: daysSince1970) == self else { return nil }
  }

  /// The days since 1970-01-01, negative before.
  ///
  /// Source: Howard Hinnant, as above, days_from_civil.
  package var daysSince1970: Int64 {
    let year = month <= 2 ? self.year - 1 : self.year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
