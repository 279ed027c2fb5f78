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
}

extension MD5Digest: Comparable {
  package static func < (a: MD5Digest, b: MD5Digest) -> Bool {
    (a.high, a.low) < (b.high, b.low)
  }
}
