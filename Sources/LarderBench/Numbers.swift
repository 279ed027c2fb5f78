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

extension Double {
  /// Returns the number with so many decimals; `null` for infinity and NaN.
  func rounded(to places: Int) -> String {
    guard isFinite else { return "null" }
    let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
    let whole = Int((magnitude * Double(scale)).rounded())
    guard places > 0 else { return (self < 0 ? "-" : "") + "\(whole)" }
    let fraction = String(whole % scale)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return (self < 0 ? "-" : "") + "\(whole / scale).\(zeros)\(fraction)"
  }
}
