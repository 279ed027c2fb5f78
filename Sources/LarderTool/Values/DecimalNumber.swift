/// A decimal number: digits, and optionally a dot and more digits.
///
/// It has no sign, no exponent and any number of digits. It is multiplied by a unit exactly,
/// without floating point.
struct DecimalNumber: Sendable, Hashable {
  /// The part before the dot; nil if it exceeds 64 bits.
  private let whole: UInt64?
  /// The digits after the dot.
  private let fraction: [UInt8]

  /// Takes a number from a scanner. Returns nil if there is none, or if a dot lacks digits on
  /// either side.
  init?(from scanner: inout ByteScanner) {
    let digits = scanner.digits()
    guard !digits.isEmpty else { return nil }
    whole = Self.value(of: digits)
    fraction = scanner.take(".") ? scanner.digits() : [0]
    if fraction.isEmpty { return nil }
  }

  /// Returns the product with `factor`, rounded down.
  ///
  /// - Returns: nil if the product exceeds `Int64`.
  func times(_ factor: UInt64) -> Int64? {
    guard let whole else { return nil }
    let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
    // The fraction is computed from its last digit to the first, rounding down each time. This is
    // exact: for a whole a, floor((a + x) / 10) = floor((a + floor(x)) / 10). Nothing overflows up
    // to a factor of 2⁶⁰.
    let part = fraction.reversed().reduce(0) { carry, digit in
      (UInt64(digit) * factor + carry) / 10
    }
    let (sum, carried) = product.addingReportingOverflow(part)
    return overflow || carried ? nil : Int64(exactly: sum)
  }

  /// Returns the value of decimal digits; nil beyond 64 bits.
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
