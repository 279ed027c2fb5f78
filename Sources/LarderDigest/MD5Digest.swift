/// The 128 bits of an MD5 digest, as two words in the order in which the digits are written.
package struct MD5Digest: Sendable, Hashable {
  /// The first 16 hexadecimal digits.
  package var high: UInt64
  /// The last 16 hexadecimal digits.
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  @inlinable
  package static func == (a: MD5Digest, b: MD5Digest) -> Bool {
    a.high == b.high && a.low == b.low
  }
}

extension MD5Digest: Comparable {
  @inlinable
  package static func < (a: MD5Digest, b: MD5Digest) -> Bool {
    (a.high, a.low) < (b.high, b.low)
  }
}

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
