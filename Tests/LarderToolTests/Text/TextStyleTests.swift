import Testing

@testable import LarderTool

struct TextStyleTests {
  @Test(
    arguments: [
      (true, nil, "xterm", true), (true, nil, nil, true), (true, "", "xterm", true),
      (true, "1", "xterm", false), (true, "0", "xterm", false), (true, nil, "dumb", false),
      (false, nil, "xterm", false), (false, "1", "dumb", false),
    ] as [(Bool, String?, String?, Bool)])
  func `a terminal gets escapes unless somebody objects`(
    isTerminal: Bool, noColor: String?, terminal: String?, usesEscapes: Bool
  ) {
    let style = TextStyle(isTerminal: isTerminal, noColor: noColor, terminal: terminal)
    #expect(style.usesEscapes == usesEscapes)
  }

  @Test func `without colours bars are still of blocks on a terminal`() {
    let style = TextStyle(isTerminal: true, noColor: "1", terminal: "xterm")
    #expect(style.usesBlocks && !style.usesEscapes)
    #expect(!TextStyle(isTerminal: true, noColor: nil, terminal: "dumb").usesBlocks)
    #expect(!TextStyle(isTerminal: false, noColor: nil, terminal: "xterm").usesBlocks)
  }

  @Test func `plain text stays as it is`() {
    #expect(TextStyle.plain.bold("x") == "x")
    #expect(TextStyle.plain.dim("x") == "x")
  }

  @Test func `every sequence is closed`() {
    let style = TextStyle(usesEscapes: true)
    #expect(style.bold("x") == "\u{1b}[1mx\u{1b}[0m")
    #expect(style.dim("x") == "\u{1b}[2mx\u{1b}[0m")
    #expect(style.set("x", .red) == "\u{1b}[31mx\u{1b}[0m")
    #expect(style.set("x", .plain) == "x" && style.set("", .red).isEmpty)
  }
}
