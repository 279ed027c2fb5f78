import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct CacheKeyTests {
  @Test
  func `composed and decomposed letters are two keys`() {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
    #expect(composed == decomposed)
    #expect(CacheKey(composed) != CacheKey(decomposed))
    #expect(Set([CacheKey(composed), CacheKey(decomposed)]).count == 2)
  }

  @Test(arguments: [
    ("\u{212b}", "\u{c5}"),  // Å: the ångström sign and the letter
    ("q\u{307}\u{323}", "q\u{323}\u{307}"),  // two marks in either order: as many bytes
    ("\u{1100}\u{1161}", "\u{ac00}"),  // 가: as two letters and as one syllable
  ])
  func `canonically equivalent texts differ as keys`(_ a: String, _ b: String) {
    #expect(a == b)
    #expect(CacheKey(a) != CacheKey(b))
    #expect(CacheKey(a).hashValue != CacheKey(b).hashValue)
  }

  @Test(arguments: [
    "", "a", "\0", "a\0b", "/", "../..", "0123456789abcde", "0123456789abcdef", "\u{1f600}",
    "https://example.com/a?b=c#d",
  ])
  func `a key is the same however its bytes came`(_ text: String) {
    let key = CacheKey(text)
    let others = [
      CacheKey(Array(text.utf8)), CacheKey(Substring(text)), CacheKey(joining: [text]),
      text.cacheKey, Array(text.utf8).cacheKey, Substring(text).cacheKey, key.cacheKey,
      CacheKey(("<" + text + ">").dropFirst().dropLast()),
    ]
    for other in others {
      #expect(other == key)
      #expect(other.hashValue == key.hashValue)
      #expect(other.bytes == Array(text.utf8))
      #expect(other.text == text)
    }
    #expect(key.byteCount == text.utf8.count)
  }

  @Test(
    arguments: [
      [0xff], [0x61, 0xff, 0x62], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
    ] as [[UInt8]])
  func `bytes that are not text stay as they are`(_ bytes: [UInt8]) {
    let key = CacheKey(bytes)
    #expect(key.bytes == bytes)
    #expect(key.byteCount == bytes.count)
    #expect(key.text == nil)
    #expect(key == CacheKey(bytes))
    #expect(key.hashValue == CacheKey(bytes).hashValue)
    #expect(key != CacheKey(bytes + [0]))
    #expect(key != CacheKey(String(decoding: bytes, as: UTF8.self)))
    #expect(key.withBytes { span in span.indices.map { span[$0] } } == bytes)
  }

  @Test
  func `a literal and an interpolation make keys`() {
    let number = 7
    let literal: CacheKey = "item 7"
    let interpolated: CacheKey = "item \(number)"
    #expect(literal == interpolated)
    #expect(literal.text == "item 7")
  }

  @Test(arguments: ["", "short", "a key that is too long for the inline form of a string"])
  func `the bytes are lent without a copy`(_ text: String) {
    let sum = CacheKey(text).withBytes { span in
      span.indices.reduce(0) { $0 + Int(span[$1]) }
    }
    #expect(sum == text.utf8.reduce(0) { $0 + Int($1) })
  }

  @Test
  func `an error in the borrowing function comes out as it is`() {
    #expect(throws: CacheError.self) {
      try CacheKey("a").withBytes { _ throws(CacheError) in
        throw CacheError(.closed, operation: "test")
      }
    }
  }

  @Test
  func `random bytes are equal as keys when they are equal as bytes`() {
    var random = SeededRandom(seed: 11)
    let alphabet: [UInt8] = [0x61, 0x62, 0xc3, 0xa9, 0xcc, 0x81, 0xff, 0]
    for _ in 0..<20_000 {
      let a = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<8, using: &random)]
      }
      let b = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<8, using: &random)]
      }
      #expect((CacheKey(a) == CacheKey(b)) == (a == b))
      #expect((CacheKey(a).hashValue == CacheKey(b).hashValue) == (a == b))
    }
  }
}
