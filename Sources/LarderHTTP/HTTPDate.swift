import LarderSystem

/// The dates of HTTP, as seconds since 1970. Source: RFC 9110, 5.6.7; RFC 9111, 4.2.
enum HTTPDate {
  private static let days = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Returns the time that a text means in one of the three formats; nil for any other text.
  ///
  /// The case of letters does not matter. Another zone than GMT is no date.
  ///
  /// - Parameter now: The present, by which a year of two digits gets its century.
  static func seconds(_ text: String, at now: Int64) -> Int64? {
    let text = text.lowercased()
    let name = text.prefix { !", ".contains($0) }
    guard let day = days.first(where: { $0 == name || $0.prefix(3) == name }),
      let month = months.firstIndex(where: text.contains)
    else { return nil }
    // With the number of the month in place of its name, a format says where digits are.
    let rest = text.dropFirst(name.count).replacing(months[month], with: "\(101 + month)".suffix(2))
    let numbers = rest.utf8.split { !$0.isDigit }.compactMap { Int64(Substring($0)) }
    let places: (day: Int, year: Int, hour: Int)
    switch (String(decoding: rest.utf8.map { $0.isDigit ? 48 : $0 }, as: UTF8.self), day == name) {
    case (", 00 00 0000 00:00:00 gmt", false), (", 00-00-00 00:00:00 gmt", true):
      places = (0, 2, 3)
    case (" 00 00 00:00:00 0000", false), (" 00  0 00:00:00 0000", false): places = (1, 5, 2)
    default: return nil
    }
    var year = numbers[places.year]
    if day == name {
      // What appears to be more than 50 years in the future is of the century before.
      let present = 1970 + now / 31_556_952
      year += present / 100 * 100
      year -= year > present + 50 ? 100 : 0
    }
    let date = CivilDate(year: year, month: Int64(month) + 1, day: numbers[places.day])
    let time = numbers[places.hour...].prefix(3)
    guard let date, zip(time, [24, 60, 61]).allSatisfy(<) else { return nil }
    return date.daysSince1970 * 86_400 + time.reduce(0) { $0 * 60 + $1 }
  }

  /// Returns a time as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Int64) -> String {
    let (day, time) = min(max(seconds, 0), 253_402_300_799).quotientAndRemainder(dividingBy: 86_400)
    let date = CivilDate(daysSince1970: day)
    func digits(_ number: Int64) -> Substring { "\(100 + number)".dropFirst() }
    let names = [days[Int((day + 4) % 7)], months[Int(date.month) - 1]]
      .map { $0.prefix(1).uppercased() + $0.dropFirst().prefix(2) }
    let clock = [time / 3600, time / 60 % 60, time % 60].map(digits).joined(separator: ":")
    return "\(names[0]), \(digits(date.day)) \(names[1]) \(date.year) \(clock) GMT"
  }
}
