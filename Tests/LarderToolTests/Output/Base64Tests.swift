import Testing

@testable import LarderTool

struct Base64Tests {
  // Source: RFC 4648 §10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `the vectors of RFC 4648 hold`(bytes: String, text: String) {
    #expect(Base64.text(of: Array(bytes.utf8)) == text)
  }

  @Test(
    arguments: [
      ([0x00], "AA=="), ([0xFF], "/w=="), ([0xFB, 0xEF, 0xBE], "++++"),
      ([0xFF, 0xFF, 0xFF], "////"),
      ([0, 0, 0, 0], "AAAAAA=="),
    ] as [([UInt8], String)])
  func `bytes outside of text hold too`(bytes: [UInt8], text: String) {
    #expect(Base64.text(of: bytes) == text)
  }

  @Test func `every length has its padding`() {
    for count in 0..<100 {
      let text = Base64.text(of: [UInt8](repeating: 0xA5, count: count))
      #expect(text.utf8.count == (count + 2) / 3 * 4)
      #expect(text.count { $0 == "=" } == (3 - count % 3) % 3)
    }
  }
}
