/// A number as people type it: digits, and perhaps a dot and more digits.
///
/// It has no sign, no exponent and no bound on its digits; what it comes to is asked per unit and
/// exact, without floating point.
struct DecimalNumber: Sendable, Hashable {
  /// The part before the dot, nil when it exceeds 64 bits.
  private let whole: UInt64?
  /// The digits after the dot.
  private let fraction: [UInt8]

  /// Takes a number; nil when there is none, or a dot without digits on both sides.
  init?(from scanner: inout ByteScanner) {
    let digits = scanner.digits()
    guard !digits.isEmpty else { return nil }
    whole = Self.value(of: digits)
    fraction = scanner.take(".") ? scanner.digits() : [0]
    if fraction.isEmpty { return nil }
  }

  /// The number of whole units of one that it comes to in units of `factor`, rounded down.
  ///
  /// - Returns: nil when that exceeds `Int64`.
  func times(_ factor: UInt64) -> Int64? {
    guard let whole else { return nil }
    let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
    // From the last digit to the first, rounding down each time, which is exact: for a whole a,
    // floor((a + x) / 10) = floor((a + floor(x)) / 10). Up to a factor of 2⁶⁰ nothing overflows.
    let part = fraction.reversed().reduce(0) { carry, digit in
      (UInt64(digit) * factor + carry) / 10
    }
    let (sum, carried) = product.addingReportingOverflow(part)
    return overflow || carried ? nil : Int64(exactly: sum)
  }

  /// The number that digits make, nil beyond 64 bits.
  private static func value(of digits: [UInt8]) -> UInt64? {
    var value: UInt64 = 0
    for digit in digits {
      let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carried) = tenfold.addingReportingOverflow(UInt64(digit))
      if overflow || carried { return nil }
      value = sum
    }
    return value
  }
}
