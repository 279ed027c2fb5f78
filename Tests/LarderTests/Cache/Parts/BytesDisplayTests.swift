import Testing

@_spi(Tool) @testable import Larder

struct BytesDisplayTests {
  @Test(
    arguments: [
      ([], ""),
      (Array("plain key".utf8), "plain key"),
      (Array("h\u{e9}llo \u{4e16}".utf8), "h\u{e9}llo \u{4e16}"),
      ([0xFF], "\\xff"),
      ([0x61, 0x80, 0x62], "a\\x80b"),
      ([0xC3], "\\xc3"),
      ([0xC0, 0xAF], "\\xc0\\xaf"),
      ([0xED, 0xA0, 0x80], "\\xed\\xa0\\x80"),
      ([0xF4, 0x90, 0x80, 0x80], "\\xf4\\x90\\x80\\x80"),
      ([0xE2, 0x82, 0x41], "\\xe2\\x82A"),
      ([0xF0, 0x9F, 0x98, 0x80], "\u{1F600}"),
      ([0x00], "\\u{0}"),
      (Array("\u{1b}[2J".utf8), "\\u{1b}[2J"),
      (Array("a\\xff".utf8), "a\\\\xff"),
      (Array("\u{202e}abc\u{2028}".utf8), "\\u{202e}abc\\u{2028}"),
      ([0x1B, 0xFE, 0x0A], "\\u{1b}\\xfe\\u{a}"),
    ] as [([UInt8], String)])
  func `bytes become text that commands no terminal`(bytes: [UInt8], text: String) {
    #expect(bytes.escapedForDisplay == text)
  }

  @Test func `every single byte has a text of its own`() {
    let texts = (0...255).map { [UInt8($0)].escapedForDisplay }
    #expect(Set(texts).count == 256)
    #expect(texts.allSatisfy { $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
  }

  @Test func `valid UTF-8 reads as the text does`() {
    let text = "a\u{301} \u{7}\u{feff} \\ \u{1F468}\u{200D}\u{1F469}"
    #expect(Array(text.utf8).escapedForDisplay == text.escapedForDisplay)
  }

  @Test func `a slice is read from its own beginning`() {
    #expect(([0x41, 0xFF, 0x42, 0xFE] as [UInt8])[1...].escapedForDisplay == "\\xffB\\xfe")
  }

  @Test func `pairs of bytes never share a text`() {
    // Compared as bytes, because canonically equivalent strings are equal in Swift.
    var texts: Set<[UInt8]> = []
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        texts.insert(Array([first, second].escapedForDisplay.utf8))
      }
    }
    #expect(texts.count == 65_536)
  }
}
