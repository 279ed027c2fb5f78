/// The SHA-256 message digest, by which a report's policy names its style and its script.
///
/// Source: FIPS 180-4.
package enum SHA256 {
  /// Computes the digest of a whole message, without allocating.
  ///
  /// - Complexity: 64 operations for each 64 bytes begun, counting nine more than the message has.
  package static func digest(of message: Span<UInt8>) -> SHA256Digest {
    var state = State()
    state.takeAll(of: message)
    return state.digest
  }
}

extension SHA256 {
  /// The eight chaining words and the processing of a block. Source: FIPS 180-4, section 6.2.
  package struct State {
    /// H0 to H7: at first, the fractions of the square roots of the first eight primes.
    var words = SIMD8<UInt32>(
      0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
      0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
  }
}

extension SHA256.State: ChainingState {
  static func lengthField(byteCount: UInt64) -> UInt64 {
    (byteCount &<< 3).byteSwapped
  }

  mutating func take(_ block: MessageBlock) {
    var schedule = Schedule(block)
    var (a, b, c, d) = (words[0], words[1], words[2], words[3])
    var (e, f, g, h) = (words[4], words[5], words[6], words[7])
    for round in 0..<64 {
      let choice = g ^ (e & (f ^ g))
      let majority = (a & b) | (c & (a | b))
      let t1 = h &+ sum1(e) &+ choice &+ roundConstants[round] &+ schedule.next(round)
      let t2 = sum0(a) &+ majority
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
    }
    words &+= SIMD8(a, b, c, d, e, f, g, h)
  }
}

extension SHA256.State {
  /// The digest after the last block.
  var digest: SHA256Digest {
    func pair(_ index: Int) -> UInt64 {
      UInt64(words[index]) << 32 | UInt64(words[index + 1])
    }
    return SHA256Digest(words: SIMD4(pair(0), pair(2), pair(4), pair(6)))
  }
}

/// W0 to W63, of which only the last sixteen are kept.
private struct Schedule {
  private var window: [16 of UInt32]

  @inline(__always)
  init(_ block: MessageBlock) {
    window = block.words
    for index in 0..<16 {
      window[index] = window[index].byteSwapped
    }
  }

  /// Returns the word of a round; rounds must be asked for in order.
  @inline(__always)
  mutating func next(_ round: Int) -> UInt32 {
    if round >= 16 {
      let older = sigma1(window[(round - 2) & 15]) &+ window[(round - 7) & 15]
      window[round & 15] &+= older &+ sigma0(window[(round - 15) & 15])
    }
    return window[round & 15]
  }
}

// The functions of section 4.1.2, named as there.

@inline(__always)
private func sum0(_ x: UInt32) -> UInt32 { rotated(x, 2) ^ rotated(x, 13) ^ rotated(x, 22) }

@inline(__always)
private func sum1(_ x: UInt32) -> UInt32 { rotated(x, 6) ^ rotated(x, 11) ^ rotated(x, 25) }

@inline(__always)
private func sigma0(_ x: UInt32) -> UInt32 { rotated(x, 7) ^ rotated(x, 18) ^ x &>> 3 }

@inline(__always)
private func sigma1(_ x: UInt32) -> UInt32 { rotated(x, 17) ^ rotated(x, 19) ^ x &>> 10 }

@inline(__always)
private func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
  word &>> count | word &<< (32 &- count)
}

/// The fractions of the cube roots of the first 64 primes. Source: FIPS 180-4, section 4.2.2.
private let roundConstants: [64 of UInt32] = [
  0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5,
  0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
  0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
  0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
  0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc,
  0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
  0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
  0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
  0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
  0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
  0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3,
  0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
  0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5,
  0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
  0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
  0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
]

/// The 256 bits of a SHA-256 digest, as four words in the order in which the digits are written.
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
