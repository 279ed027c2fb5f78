import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct HexadecimalTests {
  static let words: [(UInt64, String)] = [
    (0, "0000000000000000"),
    (1, "0000000000000001"),
    (0x0123_4567_89ab_cdef, "0123456789abcdef"),
    (0xfedc_ba98_7654_3210, "fedcba9876543210"),
    (.max, "ffffffffffffffff"),
  ]

  static let malformed = [
    "", "0", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg",
    "0123456789abcde ", "+123456789abcdef", "0x23456789abcdef", "0123456789abcde/",
    "0123456789abcde:", "0123456789abcde`", "0123456789abcde\0", "0123456789abcd\u{e9}",
  ]

  @Test(arguments: words)
  func `sixteen lower-case digits are a word`(word: UInt64, text: String) {
    #expect(Hexadecimal.word(of: Array(text.utf8)) == word)
  }

  @Test(arguments: words)
  func `eight digits at once are those one by one`(word: UInt64, text: String) {
    let (high, low) = (UInt32(truncatingIfNeeded: word >> 32), UInt32(truncatingIfNeeded: word))
    let packed = [high, low].map(Hexadecimal.packedDigits)
    let bytes = packed.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
    #expect(bytes == Array(text.utf8))
    #expect(packed.map(Hexadecimal.half) == [high, low])
  }

  @Test func `of all bytes, the sixteen lower-case digits alone are taken`() {
    for byte in UInt64(0)...255 {
      for place in 0..<8 {
        let text = 0x3030_3030_3030_3030 & ~(0xff << (place * 8)) | byte << (place * 8)
        let digit = Array("0123456789abcdef".utf8).firstIndex(of: UInt8(byte))
        let expected = digit.map { UInt32($0) << (28 - 4 * place) }
        #expect(Hexadecimal.half(ofPacked: text) == expected)
      }
    }
  }

  @Test(arguments: malformed)
  func `anything else is no word`(text: String) {
    #expect(Hexadecimal.word(of: Array(text.utf8)) == nil)
  }

  @Test
  func `random words come back`() {
    var generator = SeededRandom(seed: 16)
    for _ in 0..<1_000 {
      let word = generator.next()
      #expect(Hexadecimal.word(of: Array(word.digits(16, radix: 16).utf8)) == word)
    }
  }
}
