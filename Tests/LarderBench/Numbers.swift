/// The parser for sizes and counts on the command line.
enum ByteSize {
  /// Parses a size or a count such as `1048576`, `24MiB`, `1.5 GiB` or `10MB`, as the command does.
  ///
  /// A unit of one letter or with `iB` is a power of 1024, a unit with `B` a power of 1000. Case
  /// does not matter. Decimals round down.
  ///
  /// - Throws: `UsageError` for any other text, and for a number that exceeds 64 bits.
  static func parse(_ text: String?) throws -> Int {
    guard let text else { throw UsageError() }
    let number = text.prefix { "0123456789.".contains($0) }
    let unit = text.dropFirst(number.count)
    let factor = try factor(of: unit.first == " " ? unit.dropFirst() : unit)
    let parts = number.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let whole = Int(first) else { throw UsageError() }
    let (size, overflow) = whole.multipliedReportingOverflow(by: factor)
    guard !overflow else { throw UsageError() }
    guard parts.count == 2 else { return size }
    guard let fraction = Double("0.\(parts[1])") else { throw UsageError() }
    let (sum, overflows) = size.addingReportingOverflow(Int(fraction * Double(factor)))
    guard !overflows else { throw UsageError() }
    return sum
  }

  /// Returns a whole number of bytes, KiB or MiB.
  static func text(_ byteCount: Int) -> String {
    switch byteCount {
    case let count where count >= 1 << 20: "\(count >> 20) MiB"
    case let count where count >= 1 << 10: "\(count >> 10) KiB"
    case let count: "\(count) B"
    }
  }

  private static func factor(of unit: Substring) throws -> Int {
    let unit = unit.lowercased()
    guard let letter = unit.first, unit != "b" else { return 1 }
    guard let exponent = ["k": 1, "m": 2, "g": 3, "t": 4][letter],
      ["", "ib", "b"].contains(unit.dropFirst())
    else { throw UsageError() }
    let base = unit.count == 2 ? 1000 : 1024
    return (0..<exponent).reduce(1) { product, _ in product * base }
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
