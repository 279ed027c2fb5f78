extension Int {
  /// What a count may look like, for errors.
  static let acceptedCount = "a count is a whole number from 0"

  /// Reads a whole number of digits alone.
  init(parsingCount bytes: some Collection<UInt8>) throws(ValueError) {
    var scanner = ByteScanner(bytes)
    guard let number = DecimalNumber(from: &scanner) else {
      throw .notANumber(bytes, accepted: Self.acceptedCount)
    }
    guard scanner.isAtEnd, !bytes.contains(UInt8(ascii: ".")) else {
      throw ValueError(bytes, "is not a whole number", accepted: Self.acceptedCount)
    }
    guard let count = number.times(1).flatMap({ Int(exactly: $0) }) else {
      throw ValueError(bytes, "is too large", accepted: "the most is \(Int.max)")
    }
    self = count
  }
}
