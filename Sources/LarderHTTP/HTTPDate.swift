import Larder

/// The dates of HTTP, as seconds since 1970. Source: RFC 9110, 5.6.7; RFC 9111, 4.2.
enum HTTPDate {
  private static let days = "sunday monday tuesday wednesday thursday friday saturday"
    .split(separator: " ")
  private static let months = "jan feb mar apr may jun jul aug sep oct nov dec".split { $0 == " " }

  /// Returns the time that a text means in one of the three formats; nil for any other text.
  ///
  /// The case of letters does not matter. Another zone than GMT is no date.
  ///
  /// - Parameter now: The present, by which a year of two digits gets its century.
  static func seconds(_ text: String, at now: Int64) -> Int64? {
    let text = text.lowercased()
    let name = text.prefix { !", ".contains($0) }
    guard let day = days.first(where: { $0 == name || $0.prefix(3) == name }),
      let month = months.firstIndex(where: { text.contains($0) })
    else { return nil }
    // With the number of the month in place of its name, a format says where digits are.
    let rest = text.dropFirst(name.count).replacing(months[month], with: "\(101 + month)".suffix(2))
    var parts = rest.utf8.split { !$0.isDigit }.map { String(Substring($0)) }
    switch (String(decoding: rest.utf8.map { $0.isDigit ? 48 : $0 }, as: UTF8.self), day == name) {
    case (", 00 00 0000 00:00:00 gmt", false): break
    case (", 00-00-00 00:00:00 gmt", true):
      // What appears to be more than 50 years in the future is of the century before.
      let present = 1970 + now / 31_556_952
      let year = present / 100 * 100 + Int64(parts[2].number ?? 0)
      parts[2] = "\(year > present + 50 ? year - 100 : year)"
    case (" 00 00 00:00:00 0000", false), (" 00  0 00:00:00 0000", false):
      parts = [String("0\(parts[1])".suffix(2)), parts[0], parts[5]] + parts[2...4]
    default: return nil
    }
    // A leap second counts as the one before it.
    if parts[5] == "60" { parts[5] = "59" }
    let time = parts[3...].joined(separator: ":")
    return Timestamp(rfc3339: "\(parts[2])-\(parts[1])-\(parts[0])T\(time)Z")?.seconds
  }

  /// Returns a time as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Int64) -> String {
    let time = Timestamp(seconds: min(max(seconds, 0), Timestamp.lastOfRFC3339.seconds))
    let date = time.dateText.split(separator: "-")
    let names = [days[Int(time.seconds / 86_400 + 4) % 7], months[(date[1].number ?? 1) - 1]]
      .map { $0.prefix(1).uppercased() + $0.dropFirst().prefix(2) }
    return "\(names[0]), \(date[2]) \(names[1]) \(date[0]) \(time.timeOfDayText) GMT"
  }
}
