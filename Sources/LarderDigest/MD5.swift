import LarderSystem

/// The MD5 message digest, which names entries. It is no proof of content. Source: RFC 1321.
///
/// All digests here take bytes as a `Span<UInt8>`, which arrays, strings' `utf8` and inline arrays
/// offer; making a `RawSpan` of them would give up strict memory safety.
package enum MD5 {
  /// Computes the digest of a whole message, without allocating.
  ///
  /// - Complexity: 64 operations for each 64 bytes begun, counting nine more than the message has.
  package static func digest(of message: Span<UInt8>) -> MD5Digest {
    var state = State()
    var offset = 0
    while message.count - offset >= 64 {
      state.take(message.littleEndianBlock(at: offset))
      offset += 64
    }
    state.takeEnd(of: message.extracting(droppingFirst: offset), byteCount: message.count)
    return state.digest
  }
}

extension MD5 {
  /// The four chaining words and the processing of a block, which is 64 bytes as sixteen
  /// little-endian words. Source: RFC 1321, sections 3.1 to 3.5.
  struct State {
    var a: UInt32 = 0x6745_2301
    var b: UInt32 = 0xefcd_ab89
    var c: UInt32 = 0x98ba_dcfe
    var d: UInt32 = 0x1032_5476
  }
}

extension MD5.State {
  mutating func take(_ block: [16 of UInt32]) {
    let before = self
    round1(block)
    round2(block)
    round3(block)
    round4(block)
    a &+= before.a
    b &+= before.b
    c &+= before.c
    d &+= before.d
  }

  /// Processes the rest of a message, less than a block: behind it come the bit 1, zeros, and the
  /// length in bits in the last eight bytes of a block. The whole message has `byteCount` bytes.
  @inline(__always)
  mutating func takeEnd(of rest: Span<UInt8>, byteCount: Int) {
    var block = [16 of UInt32](repeating: 0)
    let wholeWords = rest.count / 4
    for index in 0..<wholeWords {
      block[index] = rest.littleEndianUInt32(at: 4 * index)
    }
    // Gathered in a register, because loading a word soon after storing its bytes would stall.
    var last: UInt32 = 0x80
    for offset in stride(from: rest.count - 1, through: 4 * wholeWords, by: -1) {
      last = last &<< 8 | UInt32(rest[offset])
    }
    block[wholeWords] = last
    if rest.count > 55 {
      take(block)
      block = [16 of UInt32](repeating: 0)
    }
    let bitCount = UInt64(byteCount) &<< 3
    block[14] = UInt32(truncatingIfNeeded: bitCount)
    block[15] = UInt32(truncatingIfNeeded: bitCount &>> 32)
    take(block)
  }

  /// The digest after the last block: the words' bytes, the lowest byte of each first.
  var digest: MD5Digest {
    MD5Digest(
      high: UInt64(a.byteSwapped) << 32 | UInt64(b.byteSwapped),
      low: UInt64(c.byteSwapped) << 32 | UInt64(d.byteSwapped))
  }
}

// The 64 operations as the RFC lists them. Written out, because constant indices and shifts let the
// compiler keep the state in registers.
extension MD5.State {
  @inline(__always)
  private mutating func round1(_ x: [16 of UInt32]) {
    f(&a, b, c, d, x[0], 7, 0xd76a_a478)
    f(&d, a, b, c, x[1], 12, 0xe8c7_b756)
    f(&c, d, a, b, x[2], 17, 0x2420_70db)
    f(&b, c, d, a, x[3], 22, 0xc1bd_ceee)
    f(&a, b, c, d, x[4], 7, 0xf57c_0faf)
    f(&d, a, b, c, x[5], 12, 0x4787_c62a)
    f(&c, d, a, b, x[6], 17, 0xa830_4613)
    f(&b, c, d, a, x[7], 22, 0xfd46_9501)
    f(&a, b, c, d, x[8], 7, 0x6980_98d8)
    f(&d, a, b, c, x[9], 12, 0x8b44_f7af)
    f(&c, d, a, b, x[10], 17, 0xffff_5bb1)
    f(&b, c, d, a, x[11], 22, 0x895c_d7be)
    f(&a, b, c, d, x[12], 7, 0x6b90_1122)
    f(&d, a, b, c, x[13], 12, 0xfd98_7193)
    f(&c, d, a, b, x[14], 17, 0xa679_438e)
    f(&b, c, d, a, x[15], 22, 0x49b4_0821)
  }

  @inline(__always)
  private mutating func round2(_ x: [16 of UInt32]) {
    g(&a, b, c, d, x[1], 5, 0xf61e_2562)
    g(&d, a, b, c, x[6], 9, 0xc040_b340)
    g(&c, d, a, b, x[11], 14, 0x265e_5a51)
    g(&b, c, d, a, x[0], 20, 0xe9b6_c7aa)
    g(&a, b, c, d, x[5], 5, 0xd62f_105d)
    g(&d, a, b, c, x[10], 9, 0x0244_1453)
    g(&c, d, a, b, x[15], 14, 0xd8a1_e681)
    g(&b, c, d, a, x[4], 20, 0xe7d3_fbc8)
    g(&a, b, c, d, x[9], 5, 0x21e1_cde6)
    g(&d, a, b, c, x[14], 9, 0xc337_07d6)
    g(&c, d, a, b, x[3], 14, 0xf4d5_0d87)
    g(&b, c, d, a, x[8], 20, 0x455a_14ed)
    g(&a, b, c, d, x[13], 5, 0xa9e3_e905)
    g(&d, a, b, c, x[2], 9, 0xfcef_a3f8)
    g(&c, d, a, b, x[7], 14, 0x676f_02d9)
    g(&b, c, d, a, x[12], 20, 0x8d2a_4c8a)
  }

  @inline(__always)
  private mutating func round3(_ x: [16 of UInt32]) {
    h(&a, b, c, d, x[5], 4, 0xfffa_3942)
    h(&d, a, b, c, x[8], 11, 0x8771_f681)
    h(&c, d, a, b, x[11], 16, 0x6d9d_6122)
    h(&b, c, d, a, x[14], 23, 0xfde5_380c)
    h(&a, b, c, d, x[1], 4, 0xa4be_ea44)
    h(&d, a, b, c, x[4], 11, 0x4bde_cfa9)
    h(&c, d, a, b, x[7], 16, 0xf6bb_4b60)
    h(&b, c, d, a, x[10], 23, 0xbebf_bc70)
    h(&a, b, c, d, x[13], 4, 0x289b_7ec6)
    h(&d, a, b, c, x[0], 11, 0xeaa1_27fa)
    h(&c, d, a, b, x[3], 16, 0xd4ef_3085)
    h(&b, c, d, a, x[6], 23, 0x0488_1d05)
    h(&a, b, c, d, x[9], 4, 0xd9d4_d039)
    h(&d, a, b, c, x[12], 11, 0xe6db_99e5)
    h(&c, d, a, b, x[15], 16, 0x1fa2_7cf8)
    h(&b, c, d, a, x[2], 23, 0xc4ac_5665)
  }

  @inline(__always)
  private mutating func round4(_ x: [16 of UInt32]) {
    i(&a, b, c, d, x[0], 6, 0xf429_2244)
    i(&d, a, b, c, x[7], 10, 0x432a_ff97)
    i(&c, d, a, b, x[14], 15, 0xab94_23a7)
    i(&b, c, d, a, x[5], 21, 0xfc93_a039)
    i(&a, b, c, d, x[12], 6, 0x655b_59c3)
    i(&d, a, b, c, x[3], 10, 0x8f0c_cc92)
    i(&c, d, a, b, x[10], 15, 0xffef_f47d)
    i(&b, c, d, a, x[1], 21, 0x8584_5dd1)
    i(&a, b, c, d, x[8], 6, 0x6fa8_7e4f)
    i(&d, a, b, c, x[15], 10, 0xfe2c_e6e0)
    i(&c, d, a, b, x[6], 15, 0xa301_4314)
    i(&b, c, d, a, x[13], 21, 0x4e08_11a1)
    i(&a, b, c, d, x[4], 6, 0xf753_7e82)
    i(&d, a, b, c, x[11], 10, 0xbd3a_f235)
    i(&c, d, a, b, x[2], 15, 0x2ad7_d2bb)
    i(&b, c, d, a, x[9], 21, 0xeb86_d391)
  }
}

// The RFC's auxiliary functions, each with the rest of its operation. Every operation needs the `b`
// of the one before, so the path from `b` to the result determines the time.

@inline(__always)
private func f(
  _ a: inout UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ x: UInt32, _ s: UInt32, _ t: UInt32
) {
  a = rotated(a &+ x &+ t &+ (d ^ (b & (c ^ d))), s) &+ b
}

@inline(__always)
private func g(
  _ a: inout UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ x: UInt32, _ s: UInt32, _ t: UInt32
) {
  // The two parts share no bit, so their sum is their union, and only one of them waits for `b`: a
  // block takes 110 ns, with `|` 116. The same in `f` makes it 114.
  a = rotated(a &+ x &+ t &+ (c & ~d) &+ (b & d), s) &+ b
}

@inline(__always)
private func h(
  _ a: inout UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ x: UInt32, _ s: UInt32, _ t: UInt32
) {
  a = rotated(a &+ x &+ t &+ (b ^ (c ^ d)), s) &+ b
}

@inline(__always)
private func i(
  _ a: inout UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ x: UInt32, _ s: UInt32, _ t: UInt32
) {
  a = rotated(a &+ x &+ t &+ (c ^ (b | ~d)), s) &+ b
}

@inline(__always)
private func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
  word &<< count | word &>> (32 &- count)
}

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
