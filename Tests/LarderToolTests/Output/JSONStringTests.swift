import LarderTestSupport
import Testing

@testable import LarderTool

struct JSONStringTests {
  @Test(arguments: [
    ("plain", "plain"), ("h\u{e9}llo \u{4e16}\u{1F600}", "h\u{e9}llo \u{4e16}\u{1F600}"),
    ("\"", "\\\""), ("\\", "\\\\"), ("/", "/"), ("\n\r\t", "\\n\\r\\t"), ("\u{0}", "\\u0000"),
    ("\u{8}\u{c}", "\\u0008\\u000c"), ("\u{1b}[31m", "\\u001b[31m"), ("\u{7f}", "\\u007f"),
    ("\u{9b}", "\\u009b"), ("\u{2028}\u{2029}", "\\u2028\\u2029"), ("\u{202e}x", "\\u202ex"),
    ("\u{2066}\u{200f}", "\\u2066\\u200f"), ("\u{feff}", "\\ufeff"),
    ("\u{e0041}", "\\udb40\\udc41"), ("\u{10ffff}", "\\udbff\\udfff"), ("\r\n", "\\r\\n"),
    ("e\u{301}", "e\u{301}"),
  ])
  func `a string is quoted and what could command a terminal escaped`(
    string: String, inner: String
  ) {
    #expect(Array(string.quotedForJSON.utf8) == Array("\"\(inner)\"".utf8))
  }

  @Test func `no control character survives`() {
    for value in (UInt32(0)...0x20FF).compactMap(Unicode.Scalar.init) {
      let quoted = String(Character(value)).quotedForJSON
      let scalars = quoted.unicodeScalars
      #expect(scalars.allSatisfy { $0.properties.generalCategory != .control })
      #expect(scalars.first == "\"" && scalars.last == "\"")
    }
  }

  @Test func `reading a string back gives the same scalars`() throws {
    var random = SeededRandom(seed: 11)
    for _ in 0..<2000 {
      let scalars = (0..<6).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...0x3_0000, using: &random))
      }
      let string = String(String.UnicodeScalarView(scalars))
      #expect(Array(Self.unquoted(string.quotedForJSON)) == Array(string.utf16))
    }
  }

  /// Parses a JSON string, as simply as possible.
  private static func unquoted(_ text: String) -> [UInt16] {
    var units: [UInt16] = []
    var rest = Array(text.utf16.dropFirst().dropLast())[...]
    while let unit = rest.popFirst() {
      guard unit == 0x5C, let escaped = rest.popFirst() else {
        units.append(unit)
        continue
      }
      switch Unicode.Scalar(escaped) {
      case "n": units.append(10)
      case "r": units.append(13)
      case "t": units.append(9)
      case "u":
        units.append(UInt16(String(decoding: rest.prefix(4), as: UTF16.self), radix: 16) ?? 0)
        rest = rest.dropFirst(4)
      default: units.append(escaped)
      }
    }
    return units
  }
}
