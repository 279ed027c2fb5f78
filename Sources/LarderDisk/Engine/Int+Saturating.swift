extension Int {
  /// Adds a number of bytes, and stops at `Int.max` if the sum would overflow.
  ///
  /// A sparse file can claim nearly 2⁶³ bytes, and two planted files must not trap the process.
  package mutating func addSaturating(_ byteCount: UInt64) {
    let (sum, overflow) = addingReportingOverflow(Int(clamping: byteCount))
    self = overflow ? .max : sum
  }
}
