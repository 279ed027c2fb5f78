import LarderSystem

/// The dates of HTTP, as seconds since 1970. Source: RFC 9110, 5.6.7; RFC 9111, 4.2.
enum HTTPDate {
  private static let days = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// What follows the name of the day, with the number of the month (N) in place of its name. A
  /// letter in upper case stands for a digit, `_` for a space or the first digit of the day.
  private static let formats = [
    (isLong: false, text: ", DD NN YYYY HH:MM:SS gmt"),
    (isLong: false, text: " NN _D HH:MM:SS YYYY"),
    (isLong: true, text: ", DD-NN-YY HH:MM:SS gmt"),
  ]

  /// Returns the time that a text means in one of the three formats; nil for any other text.
  ///
  /// The case of letters does not matter. Another zone than GMT is no date.
  ///
  /// - Parameter now: The present, by which a year of two digits gets its century.
  static func seconds(_ text: String, at now: Int64) -> Int64? {
    let text = text.lowercased()
    let day = text.prefix { !", ".contains($0) }
    let isLong = days.contains(String(day))
    guard isLong || days.contains(where: { $0.prefix(3) == day }),
      let month = months.firstIndex(where: { text.contains($0) })
    else { return nil }
    let rest = text.dropFirst(day.count).replacing(months[month], with: "\(101 + month)".suffix(2))
    for format in formats where format.isLong == isLong {
      guard let digits = digits(of: rest, in: format.text) else { continue }
      var year = digits["Y", default: 0]
      if isLong {
        // What appears to be more than 50 years in the future is of the century before.
        let present = 1970 + now / 31_556_952
        year += present / 100 * 100
        year -= year > present + 50 ? 100 : 0
      }
      let (hour, minute, second) = (digits["H"] ?? 0, digits["M"] ?? 0, digits["S"] ?? 0)
      let date = CivilDate(year: year, month: Int64(month) + 1, day: digits["D"] ?? 0)
      guard let date, hour < 24, minute < 60, second <= 60 else { return nil }
      return date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second
    }
    return nil
  }

  /// Returns the number that each letter of a format stands for; nil if the text is otherwise.
  private static func digits(of text: Substring, in format: String) -> [Unicode.Scalar: Int64]? {
    guard text.utf8.count == format.utf8.count else { return nil }
    var numbers: [Unicode.Scalar: Int64] = [:]
    for (byte, mark) in zip(text.utf8, format.unicodeScalars) {
      if ("A"..."Z").contains(mark)
        ? !byte.isDigit
        : mark == "_"
          ? byte != 32 && !byte.isDigit
          : byte != UInt8(ascii: mark)
      {
        return nil
      }
      numbers[mark == "_" ? "D" : mark, default: 0] *= 10
      numbers[mark == "_" ? "D" : mark, default: 0] += Int64(byte & 15)
    }
    return numbers
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
