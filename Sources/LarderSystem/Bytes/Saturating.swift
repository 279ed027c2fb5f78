extension UInt64 {
  /// Returns the product with another number, or the maximum if it would overflow.
  func multipliedSaturating(by factor: UInt64) -> UInt64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }

  /// Adds a number; sets the maximum if the sum would overflow.
  package mutating func addSaturating(_ other: UInt64) {
    let (sum, overflow) = addingReportingOverflow(other)
    self = overflow ? .max : sum
  }
}

extension Int {
  /// Adds a number of bytes, and stops at `Int.max` if the sum would overflow.
  ///
  /// A sparse file can claim nearly 2⁶³ bytes, and two planted files must not trap the process.
  @inlinable
  package mutating func addSaturating(_ byteCount: UInt64) {
    let (sum, overflow) = addingReportingOverflow(Int(clamping: byteCount))
    self = overflow ? .max : sum
  }
}
