extension MD5Digest {
  /// The 32 hexadecimal digits, lower-case, in ASCII, as `md5sum` prints them.
  var hex: [UInt8] {
    var digits: [UInt8] = []
    digits.reserveCapacity(32)
    Hexadecimal.append(high, to: &digits)
    Hexadecimal.append(low, to: &digits)
    return digits
  }

  /// Reads exactly 32 digits; nil for anything else, upper case included.
  init?(hex: Span<UInt8>) {
    guard hex.count == 32,
      let high = Hexadecimal.word(of: hex.extracting(first: 16)),
      let low = Hexadecimal.word(of: hex.extracting(last: 16))
    else { return nil }
    self.init(high: high, low: low)
  }
}
