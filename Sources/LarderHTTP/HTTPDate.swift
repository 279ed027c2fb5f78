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
    var parts = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
    let day = parts[0]
    let isShort = days.contains { $0.prefix(3) == day.prefix { $0 != "," } }
    let hasComma = day.last == ","
    if isShort, hasComma, parts.count == 6, parts[5] == "gmt" {
      return seconds(parts[1], parts[2], parts[3].digits(4), parts[4])
    }
    if isShort, !hasComma {
      // A day of one digit has a space before it.
      if parts.count == 6, parts[2].isEmpty, parts[3].utf8.count == 1 {
        parts.replaceSubrange(2...3, with: ["0\(parts[3])"])
      }
      return parts.count == 5 ? seconds(parts[2], parts[1], parts[4].digits(4), parts[3]) : nil
    }
    guard parts.count == 4, hasComma, days.contains(String(day.dropLast())), parts[3] == "gmt",
      case let date = parts[1].split(separator: "-", omittingEmptySubsequences: false),
      date.count == 3, let year = date[2].digits(2)
    else { return nil }
    // What appears to be more than 50 years in the future is of the century before.
    let present = 1970 + now / 31_556_952
    let whole = present / 100 * 100 + year
    return seconds(date[0], date[1], whole > present + 50 ? whole - 100 : whole, parts[2])
  }

  private static func seconds(
    _ day: Substring, _ month: Substring, _ year: Int64?, _ time: Substring
  ) -> Int64? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { $0.digits(2) }
    guard let year, let day = day.digits(2), let month = months.firstIndex(of: String(month)),
      let date = CivilDate(year: year, month: Int64(month) + 1, day: day), clock.count == 3,
      let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24, minute < 60,
      second <= 60
    else { return nil }
    return date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second
  }

  /// Returns a time as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Int64) -> String {
    let (day, time) = min(max(seconds, 0), 253_402_300_799).quotientAndRemainder(dividingBy: 86_400)
    let date = CivilDate(daysSince1970: day)
    func digits(_ number: Int64) -> Substring { "\(100 + number)".dropFirst() }
    func name(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst().prefix(2) }
    return """
      \(name(days[Int((day + 4) % 7)])), \(digits(date.day)) \(name(months[Int(date.month) - 1])) \
      \(date.year) \(digits(time / 3600)):\(digits(time / 60 % 60)):\(digits(time % 60)) GMT
      """
  }
}

extension Substring {
  /// The number that so many digits spell.
  fileprivate func digits(_ count: Int) -> Int64? {
    utf8.count == count ? number.map(Int64.init) : nil
  }
}
