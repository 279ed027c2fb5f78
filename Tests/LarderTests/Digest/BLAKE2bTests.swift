import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct BLAKE2bTests {
  private func hex(_ message: [UInt8]) -> [UInt8] {
    let digest = BLAKE2b.digest(of: message)
    return Array((digest.first.digits(16, radix: 16) + digest.last.digits(8, radix: 16)).utf8)
  }

  private func bytes(_ digest: BLAKE2bDigest) -> [UInt8] {
    let last = (0..<4).map { UInt8(truncatingIfNeeded: digest.last >> (24 - 8 * $0)) }
    return (0..<8).map { UInt8(truncatingIfNeeded: digest.first >> (56 - 8 * $0)) } + last
  }

  /// As `printf %s TEXT | b2sum -l 96` prints them.
  @Test(arguments: [
    ("", "b8e1dda3ac0aa3820ad2990b"), ("abc", "48b4f1f9042a2d5033b382b5"),
  ])
  func `a digest is the one that b2sum prints`(text: String, digest: String) {
    #expect(hex(Array(text.utf8)) == Array(digest.utf8))
  }

  @Test func `one million times a has the digest that b2sum prints`() {
    #expect(
      hex([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
        == Array("7333a69ba4c31595e4c090ad".utf8))
  }

  // Every length on both sides of one and two blocks, checked by one digest that Python's hashlib
  // computed.
  @Test func `every length up to 300 has the digest that others compute`() {
    var digests: [UInt8] = []
    for count in 0...300 {
      let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
      digests += bytes(BLAKE2b.digest(of: message))
    }
    #expect(hex(digests) == Array("18a1da03bc6cbdaffcfd2fe0".utf8))
  }
}

struct Base64URLTests {
  private func text(_ word: UInt64) -> String {
    String(
      decoding: [UInt8](capacity: 11) { text in Base64URL.append(word, to: &text) }, as: UTF8.self)
  }

  private func text(_ digest: BLAKE2bDigest) -> String {
    String(
      decoding: [UInt8](capacity: 16) { text in Base64URL.append(digest, to: &text) },
      as: UTF8.self)
  }

  @Test(
    arguments: [
      (0, "AAAAAAAAAAA"), (.max, "__________8"), (0x26c7_827d_889f_6da3, "JseCfYifbaM"),
      (0xfb_ff00_0000_0000, "APv_AAAAAAA"), (0xf800_0000_0000_0000, "-AAAAAAAAAA"),
    ] as [(UInt64, String)])
  func `a word is eleven characters`(word: UInt64, spelling: String) {
    #expect(text(word) == spelling)
    #expect(Base64URL.word(of: Array(spelling.utf8).span) == word)
  }

  @Test func `what is written is read back, and no two texts are one word`() {
    var random = SeededRandom(seed: 5)
    for _ in 0..<2_000 {
      let word = UInt64.random(in: 0 ... .max, using: &random)
      let digest = BLAKE2bDigest(first: word, last: .random(in: 0 ... .max, using: &random))
      #expect(Base64URL.word(of: Array(text(word).utf8).span) == word)
      #expect(Base64URL.digest(of: Array(text(digest).utf8).span) == digest)
    }
    for byte in UInt8.min ... .max {
      for index in 0..<11 {
        var text = Array(self.text(0x0123_4567_89ab_cdef).utf8)
        text[index] = byte
        guard let word = Base64URL.word(of: text.span) else { continue }
        #expect(Array(self.text(word).utf8) == text)
      }
      for index in 0..<16 {
        var text = Array(self.text(BLAKE2bDigest(first: 7, last: 7)).utf8)
        text[index] = byte
        guard let digest = Base64URL.digest(of: text.span) else { continue }
        #expect(Array(self.text(digest).utf8) == text)
      }
    }
  }

  @Test(arguments: ["", "AAAAAAAAAA", "AAAAAAAAAAAA", "AAAAAAAAAA=", "AAAAAAAAAAB", "AAAAA AAAAA"])
  func `another text is no word`(text: String) {
    #expect(Base64URL.word(of: Array(text.utf8).span) == nil)
    #expect(Base64URL.digest(of: Array(text.utf8).span) == nil)
  }
}
