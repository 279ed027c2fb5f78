/// The parser for sizes and counts on the command line.
enum ByteSize {
  /// Parses a whole number from 0. It may end in K, M or G for powers of 1024.
  ///
  /// - Throws: `UsageError` for any other text, and for a number that exceeds 64 bits.
  static func parse(_ text: String?) throws -> Int {
    guard let text, let last = text.last else { throw UsageError() }
    let factors: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let factor = factors[last] ?? 1
    guard let number = Int(factor == 1 ? text[...] : text.dropLast()), number >= 0 else {
      throw UsageError()
    }
    let (size, overflow) = number.multipliedReportingOverflow(by: factor)
    if overflow { throw UsageError() }
    return size
  }
}
