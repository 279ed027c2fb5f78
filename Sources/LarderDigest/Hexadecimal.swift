import LarderSystem

/// Conversions of words to and from sixteen hexadecimal digits in ASCII, lower-case only.
package enum Hexadecimal {
  /// Returns the eight digits of half a word, the highest digit in the lowest byte: the order in
  /// memory, where the lowest byte comes first.
  ///
  /// Computes all eight at once, each in its byte: 15 instructions in place of 200.
  @inline(__always)
  package static func packedDigits(of half: UInt32) -> UInt64 {
    // Each step halves the content of a lane and puts the upper part into the next lane.
    var lanes = UInt64(half.byteSwapped)
    lanes = (lanes | lanes &<< 16) & 0x0000_ffff_0000_ffff
    lanes = (lanes | lanes &<< 8) & 0x00ff_00ff_00ff_00ff
    lanes = (lanes &>> 4 & 0x000f_000f_000f_000f) | (lanes & 0x000f_000f_000f_000f) &<< 8
    // Adding 6 carries into bit 4 if the digit is a letter. The letters' codes are 39 higher than
    // they would be if they followed "9".
    let letters = (lanes &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
    return lanes &+ 0x3030_3030_3030_3030 &+ letters &* 39
  }

  /// Returns the word that exactly sixteen digits spell; nil for any other text, including upper
  /// case, so that no two texts mean the same word.
  package static func word(of text: Span<UInt8>) -> UInt64? {
    guard text.count == 16 else { return nil }
    return word(ofPacked: text.littleEndianUInt64(at: 0), text.littleEndianUInt64(at: 8))
  }

  /// Returns the word of two times eight digits, of each the first in the lowest byte.
  @inline(__always)
  package static func word(ofPacked first: UInt64, _ second: UInt64) -> UInt64? {
    guard let high = half(ofPacked: first), let low = half(ofPacked: second) else { return nil }
    return UInt64(high) << 32 | UInt64(low)
  }

  /// Returns half a word from eight digits, the first in the lowest byte; nil if one is no digit.
  ///
  /// Reads all eight at once, because a scan reads the names of a million files.
  @inline(__always)
  static func half(ofPacked text: UInt64) -> UInt32? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    // Above 127 the sums below would carry from one byte into the next.
    guard text & (ones &* 0x80) == 0 else { return nil }
    // The top bit of each byte: at least "0", above "9", at least "a", above "f".
    let fromZero = text &+ ones &* (0x80 - 0x30)
    let beyondNine = text &+ ones &* (0x80 - 0x3a)
    let fromA = text &+ ones &* (0x80 - 0x61)
    let beyondF = text &+ ones &* (0x80 - 0x67)
    let isDigit = fromZero & ~beyondNine
    let isLetter = fromA & ~beyondF
    guard (isDigit | isLetter) & (ones &* 0x80) == ones &* 0x80 else { return nil }
    var lanes = (text & (ones &* 0x0f)) &+ (isLetter &>> 7 & ones) &* 9
    // Joins two digits to a byte, then the bytes; the first digit is the highest.
    lanes = (lanes &<< 4 | lanes &>> 8) & 0x00ff_00ff_00ff_00ff
    lanes = (lanes | lanes &>> 8) & 0x0000_ffff_0000_ffff
    return UInt32(truncatingIfNeeded: lanes | lanes &>> 16).byteSwapped
  }
}
