/// A size in bytes, read and shown as people write it.
struct ByteCount: Sendable, Hashable {
  /// The bytes.
  let count: Int64

  /// Takes a number of bytes as it is.
  init(_ count: Int64) {
    self.count = count
  }

  /// What a size may look like, for help texts and errors.
  static let accepted = "sizes are bytes, or end in K, M, G, T (1024) or KB, MB, GB, TB (1000)"

  /// Reads a size such as `1048576`, `1M`, `1.5 GiB` or `10 MB`.
  ///
  /// A unit of one letter or with `iB` is a power of 1024, one with `B` a power of 1000, in either
  /// case of letters; a space may stand before it. Decimals round down to whole bytes.
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

  /// The bytes that a unit stands for, nil when it is none.
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
  /// The size to one decimal in the largest unit of 1024 in which it is at least one: `1.4 MiB`.
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

  /// Tenths of a unit, rounded half up.
  private static func tenths(of count: UInt64, exponent: Int) -> UInt64 {
    let unit = Int128(1) << (10 * exponent)
    return UInt64((Int128(count) * 10 + unit / 2) / unit)
  }
}
