import Testing

@testable import LarderTool

struct WrappingTests {
  @Test(arguments: [
    ("", 10, [""]), ("a b c", 10, ["a b c"]), ("a b c", 3, ["a b", "c"]),
    ("a b c", 1, ["a", "b", "c"]), ("longword x", 4, ["longword", "x"]),
    ("x longword", 4, ["x", "longword"]), ("a  b", 10, ["a b"]), (" a ", 10, ["a"]),
    ("a b", 0, ["a", "b"]), ("a b", -5, ["a", "b"]),
    ("\u{4e16} \u{754c}", 4, ["\u{4e16}", "\u{754c}"]),
  ])
  func `lines break at spaces`(text: String, width: Int, lines: [String]) {
    #expect(text.wrapped(toWidth: width) == lines)
  }

  @Test func `no word is lost`() {
    let text = "the quick brown fox jumps over the lazy dog and sleeps"
    for width in 1..<60 {
      let lines = text.wrapped(toWidth: width)
      #expect(lines.joined(separator: " ") == text)
      #expect(lines.allSatisfy { $0.utf8.count <= max(width, 6) })
    }
  }
}
