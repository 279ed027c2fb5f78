/// A size in bytes, which can be parsed from text and shown as text.
struct ByteCount: Sendable, Hashable {
  /// The number of bytes.
  let count: Int64

  /// Creates a size from a number of bytes.
  init(_ count: Int64) {
    self.count = count
  }

  /// The explanation of the notation, for help texts and errors.
  static let accepted = "sizes are bytes, or end in K, M, G, T (1024) or KB, MB, GB, TB (1000)"

  /// Parses a size such as `1048576`, `1M`, `1.5 GiB` or `10 MB`.
  ///
  /// A unit of one letter or with `iB` is a power of 1024, a unit with `B` a power of 1000. Case
  /// does not matter, and a space may precede the unit. Decimals round down to whole bytes.
  init(parsing bytes: some Collection<UInt8>) throws(ValueError) {
    var scanner = ByteScanner(bytes)
    guard let number = DecimalNumber(from: &scanner) else {
      throw .notANumber(bytes, accepted: Self.accepted)
    }
    _ = scanner.take(" ")
    guard let factor = Self.factor(of: scanner.letters()), scanner.isAtEnd else {
      throw ValueError(bytes, "does not end in a unit of size", accepted: Self.accepted)
    }
    guard let count = number.times(factor) else {
      throw ValueError(bytes, "is too large", accepted: "the most is 8 EiB less one byte")
    }
    self.count = count
  }

  /// Returns the bytes of a unit; nil if it is unknown.
  private static func factor(of unit: String) -> UInt64? {
    let unit = unit.lowercased()
    if unit.isEmpty || unit == "b" { return 1 }
    guard let letter = unit.first, let power = "kmgtpe".firstIndex(of: letter) else { return nil }
    let exponent = "kmgtpe".distance(from: "kmgtpe".startIndex, to: power) + 1
    switch unit.dropFirst() {
    case "", "ib": return 1 << (10 * exponent)
    case "b": return (0..<exponent).reduce(1) { product, _ in product * 1000 }
    default: return nil
    }
  }
}

extension ByteCount: CustomStringConvertible {
  /// The size with one decimal, in the largest binary unit that is not larger: `1.4 MiB`.
  var description: String {
    guard count.magnitude >= 1024 else { return "\(count) B" }
    var exponent = (63 - count.magnitude.leadingZeroBitCount) / 10
    var tenths = Self.tenths(of: count.magnitude, exponent: exponent)
    // 1,023.96 KiB rounds to 1,024.0, which is 1.0 of the next unit.
    if tenths == 10_240, exponent < 6 {
      exponent += 1
      tenths = 10
    }
    let unit = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][exponent]
    return "\(count < 0 ? "-" : "")\(tenths / 10).\(tenths % 10) \(unit)"
  }

  /// Returns the tenths of a unit in a count, rounded half up.
  private static func tenths(of count: UInt64, exponent: Int) -> UInt64 {
    let unit = Int128(1) << (10 * exponent)
    return UInt64((Int128(count) * 10 + unit / 2) / unit)
  }
}
