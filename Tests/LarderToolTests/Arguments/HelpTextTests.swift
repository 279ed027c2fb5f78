import Testing

@testable import LarderTool

struct HelpTextTests {
  @Test func `a text has headlines, lists and paragraphs`() {
    var help = HelpText(width: 40, style: .plain)
    help.paragraph("larder x: does it")
    help.line("Usage", "larder x [OPTIONS] DIR KEY and more that does not fit")
    help.list("Options", [("-a", "one"), ("    --bbb", "two words that are long enough to wrap")])
    #expect(
      help.text == """
        larder x: does it

        Usage: larder x [OPTIONS] DIR KEY and
               more that does not fit

        Options:
          -a         one
              --bbb  two words that are long
                     enough to wrap

        """)
  }

  @Test func `a term too wide for its column has a line of its own`() {
    var help = HelpText(width: 60, style: .plain)
    help.list("Options", [(String(repeating: "t", count: 30), "meaning"), ("s", "short")])
    let lines = help.text.split(separator: "\n")
    #expect(lines[1] == "  " + String(repeating: "t", count: 30))
    #expect(lines[2] == String(repeating: " ", count: 28) + "meaning")
    #expect(lines[3] == "  s" + String(repeating: " ", count: 25) + "short")
  }

  @Test func `an empty list leaves no heading`() {
    var help = HelpText(width: 60, style: .plain)
    help.list("Arguments", [])
    #expect(help.text.isEmpty)
  }

  @Test func `headings are set off where the output can show it`() {
    var help = HelpText(width: 60, style: .init(usesEscapes: true))
    help.line("Usage", "x")
    #expect(help.text == "\u{1b}[1mUsage:\u{1b}[0m x\n")
  }
}
