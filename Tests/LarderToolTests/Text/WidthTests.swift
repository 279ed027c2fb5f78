import Testing

@testable import LarderTool

struct WidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("h\u{e9}llo", 5), ("e\u{301}", 1), ("\u{4e16}\u{754c}", 4),
    ("\u{ff21}", 2), ("\u{ff71}", 1), ("\u{1F600}", 2), ("\u{1F1E8}\u{1F1ED}", 2),
    ("\u{ac00}", 2), ("\u{1112}\u{1161}\u{11ab}", 2), ("\u{3042}", 2), ("\u{2026}", 1),
    ("\u{20000}", 2), ("\u{5d0}", 1), ("\u{20ac}", 1), ("\u{0e33}", 1), ("a\u{20dd}", 1),
  ])
  func `a text is as wide as a terminal shows it`(text: String, width: Int) {
    #expect(text.displayWidth == width)
  }

  @Test(arguments: [
    ("abc", 3, "abc"), ("abcd", 3, "ab\u{2026}"), ("abcd", 1, "\u{2026}"), ("abcd", 0, ""),
    ("abcd", -1, ""), ("", 0, ""), ("\u{4e16}\u{754c}", 3, "\u{4e16}\u{2026}"),
    ("\u{4e16}\u{754c}x", 4, "\u{4e16}\u{2026}"),
    ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}\u{2026}"),
  ])
  func `a cut text ends in an ellipsis`(text: String, width: Int, cut: String) {
    #expect(text.truncated(toWidth: width) == cut)
  }

  @Test func `no cut is wider than asked for`() {
    let text = "a\u{4e16}b\u{1F600}c\u{754c}e\u{301}"
    for width in 0...12 { #expect(text.truncated(toWidth: width).displayWidth <= width) }
  }

  @Test(arguments: [
    ("abcdefghij", 10, "abcdefghij"), ("abcdefghijk", 10, "abcde\u{2026}hijk"),
    ("abcdefghijk", 9, "abcd\u{2026}hijk"), ("abcdefghijk", 7, "abcdef\u{2026}"),
    ("abcdefgh\u{4e16}\u{754c}", 9, "abcd\u{2026}\u{4e16}\u{754c}"),
    ("abcdefghi\u{4e16}x", 10, "abcde\u{2026}i\u{4e16}x"),
    ("abcdefghi\u{4e16}\u{754c}x", 9, "abcd\u{2026}\u{754c}x"),
  ])
  func `an abridged text keeps its beginning and its end`(text: String, width: Int, cut: String) {
    #expect(text.abridged(toWidth: width) == cut)
    for width in 0...12 { #expect(text.abridged(toWidth: width).displayWidth <= width) }
  }

  @Test func `padding goes to either side and never cuts`() {
    #expect("ab".padded(toWidth: 4) == "ab  ")
    #expect("ab".aligned(toWidth: 4) == "  ab")
    #expect("\u{4e16}".padded(toWidth: 3) == "\u{4e16} ")
    #expect("abc".padded(toWidth: 2) == "abc")
    #expect("abc".aligned(toWidth: -1) == "abc")
  }
}
