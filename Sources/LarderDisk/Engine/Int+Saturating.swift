extension Int {
  /// Adds a number of bytes, and stays at the most there is where the sum would overflow.
  ///
  /// A sparse file can claim nearly 2⁶³ bytes, and who plants two must not be able to trap anyone.
  package mutating func addSaturating(_ byteCount: UInt64) {
    let (sum, overflow) = addingReportingOverflow(Int(clamping: byteCount))
    self = overflow ? .max : sum
  }
}
