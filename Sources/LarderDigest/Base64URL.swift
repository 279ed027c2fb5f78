/// Conversions of words to and from base64url without padding. Source: RFC 4648, section 5.
///
/// The bytes of a word are encoded from the highest to the lowest, six bits a character.
package enum Base64URL {
  /// The characters of 64 bits, of which the last stands for four bits and two zeros.
  package static let wordCount = 11
  /// The characters of a digest of 96 bits.
  package static let digestCount = 16

  /// Appends the eleven characters of a word.
  @inline(__always)
  package static func append(_ word: UInt64, to text: inout OutputSpan<UInt8>) {
    _ = append(wordCount, charactersOf: word, to: &text)
  }

  /// Appends the sixteen characters of a digest.
  @inline(__always)
  package static func append(_ digest: BLAKE2bDigest, to text: inout OutputSpan<UInt8>) {
    let rest = append(10, charactersOf: digest.first, to: &text)
    // The four bits that are left begin the next character.
    _ = append(6, charactersOf: rest | UInt64(digest.last) &<< 28, to: &text)
  }

  /// Appends characters for the highest bits, and returns the other bits as the highest ones.
  @inline(__always)
  private static func append(
    _ count: Int, charactersOf bits: UInt64, to text: inout OutputSpan<UInt8>
  ) -> UInt64 {
    var rest = bits
    for _ in 0..<count {
      text.append(characters[Int(rest &>> 58)])
      rest &<<= 6
    }
    return rest
  }

  /// Returns the word that exactly eleven characters spell; nil for any other text, also for a last
  /// character with other bits than a word has, so that no two texts mean the same word.
  package static func word(of text: Span<UInt8>) -> UInt64? {
    guard text.count == wordCount, let high = bits(of: text, 0..<10),
      let low = bits(of: text, 10..<11), low & 3 == 0
    else { return nil }
    return high &<< 4 | low &>> 2
  }

  /// Returns the digest that exactly sixteen characters spell; nil for any other text.
  package static func digest(of text: Span<UInt8>) -> BLAKE2bDigest? {
    guard text.count == digestCount, let high = bits(of: text, 0..<8),
      let low = bits(of: text, 8..<16)
    else { return nil }
    return BLAKE2bDigest(
      first: high &<< 16 | low &>> 32, last: UInt32(truncatingIfNeeded: low))
  }

  /// Returns the bits of at most ten characters.
  @inline(__always)
  private static func bits(of text: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
    var bits: UInt64 = 0
    var unknown: UInt8 = 0
    for index in range {
      let value = values[Int(text[index])]
      unknown |= value
      bits = bits &<< 6 | UInt64(value)
    }
    return unknown < 64 ? bits : nil
  }
}

/// The character of each six bits.
private let characters: [64 of UInt8] = [
  65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80,
  81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 97, 98, 99, 100, 101, 102,
  103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118,
  119, 120, 121, 122, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 45, 95,
]

/// The six bits of each character, and 255 for every other byte.
private let values: [256 of UInt8] = [
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 62, 255, 255,
  52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 255, 255, 255, 255, 255, 255,
  255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
  15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 255, 255, 255, 255, 63,
  255, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
  41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
]
