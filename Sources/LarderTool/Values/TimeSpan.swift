/// A duration in whole seconds, which can be parsed from text.
struct TimeSpan: Sendable, Hashable {
  /// The number of seconds, never negative.
  let seconds: Int

  /// Creates a duration from a number of seconds.
  init(seconds: Int) {
    self.seconds = seconds
  }

  /// The explanation of the notation, for help texts and errors.
  static let accepted = "durations end in s, m, h, d or w, as in 90s, 1h30m, 7d"

  /// The units from the largest to the smallest, in which order they have to follow each other.
  private static let units: [(name: String, seconds: UInt64)] = [
    ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
  ]

  /// Parses a duration such as `90`, `1.5h`, `1h30m` or `2w 3d`.
  ///
  /// A number alone means seconds, as with `sleep`. Larger units come before smaller ones, each
  /// once at most. Decimals round down to whole seconds.
  init(parsing bytes: some Collection<UInt8>) throws(ValueError) {
    var scanner = ByteScanner(bytes)
    var units = Self.units[...]
    var total: Int64 = 0
    repeat {
      guard let number = DecimalNumber(from: &scanner) else {
        throw .notANumber(bytes, accepted: Self.accepted)
      }
      _ = scanner.take(" ")
      let name = scanner.letters()
      let isAlone = name.isEmpty && scanner.isAtEnd && units.count == Self.units.count
      guard let index = units.firstIndex(where: { $0.name == (isAlone ? "s" : name) }) else {
        throw Self.badUnit(name, in: bytes)
      }
      total = try Self.sum(total, number.times(units[index].seconds), of: bytes)
      // Only smaller units may follow, so `30m 1h` and `1h 1h` are errors.
      units = units[(index + 1)...]
      _ = scanner.take(" ")
    } while !scanner.isAtEnd
    self.seconds = Int(clamping: total)
  }

  /// Adds a part to the total. A nil part is too long by itself.
  private static func sum(
    _ total: Int64, _ part: Int64?, of bytes: some Collection<UInt8>
  ) throws(ValueError) -> Int64 {
    let (sum, overflow) = total.addingReportingOverflow(part ?? .max)
    guard part != nil, !overflow else {
      throw ValueError(bytes, "is too long", accepted: "the most is 292 billion years")
    }
    return sum
  }

  /// Returns the error for a unit that is unknown or out of order.
  private static func badUnit(_ name: String, in bytes: some Collection<UInt8>) -> ValueError {
    let isKnown = units.contains { $0.name == name }
    let problem = isKnown ? "has its units out of order" : "does not end in a unit of time"
    return ValueError(bytes, problem, accepted: accepted)
  }
}
