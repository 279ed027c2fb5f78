/// The 256 bits of a SHA-256 digest, as four words in the order in which the digits are written.
///
/// A key's proof is the first two of them.
package struct SHA256Digest: Sendable, Hashable {
  /// Sixteen hexadecimal digits each.
  package var words: SIMD4<UInt64>

  /// The 32 bytes.
  package var bytes: [UInt8] {
    words.indices.flatMap { index in
      (0..<8).map { UInt8(truncatingIfNeeded: words[index] >> UInt64(56 - 8 * $0)) }
    }
  }

  /// The 64 hexadecimal digits, lower-case, in ASCII.
  var hex: [UInt8] {
    var digits: [UInt8] = []
    digits.reserveCapacity(64)
    for index in words.indices {
      Hexadecimal.append(words[index], to: &digits)
    }
    return digits
  }
}
