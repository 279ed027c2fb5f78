import Testing

@testable import LarderTool

struct QuotingTests {
  @Test(
    arguments: [
      ([], "''"), (Array("key".utf8), "'key'"), ([0xFF], "'\\xff'"), ([0x1B], "'\\u{1b}'"),
    ] as [([UInt8], String)])
  func `a quotation shows what was meant`(bytes: [UInt8], text: String) {
    #expect(bytes.quotedForDisplay == text)
  }

  @Test(arguments: [49, 192, 193, 131_071])
  func `a long argument is cut`(count: Int) {
    let quoted = [UInt8](repeating: UInt8(ascii: "k"), count: count).quotedForDisplay
    #expect(quoted == "'" + String(repeating: "k", count: 47) + "\u{2026}'")
  }

  @Test func `48 columns are shown in full`() {
    let key = String(repeating: "k", count: 48)
    #expect(Array(key.utf8).quotedForDisplay == "'\(key)'")
  }

  @Test func `what combines without width is cut too`() {
    let marks = Array(String(repeating: "\u{301}", count: 10_000).utf8)
    #expect(marks.quotedForDisplay.hasSuffix("\u{2026}'"))
    #expect(marks.quotedForDisplay.utf8.count < 400)
  }
}
