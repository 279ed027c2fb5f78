extension Timestamp {
  /// The point in time in UTC: `2242-03-16T12:56:32Z`, with nine decimals unless they are all 0.
  ///
  /// Years outside of 0000 to 9999, for which RFC 3339 has no form, are written with a sign as in
  /// ISO 8601.
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
      guard let number, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      return number * 10 + Int64(byte & 15)
    }
  }
}

extension Int64 {
  /// Returns the number with leading zeros up to a number of digits.
  fileprivate func digits(_ count: Int) -> String {
    let text = String(self)
    return String(repeating: "0", count: Swift.max(0, count - text.utf8.count)) + text
  }
}
