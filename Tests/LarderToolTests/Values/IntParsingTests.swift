import Testing

@testable import LarderTool

struct IntParsingTests {
  @Test(arguments: [
    ("0", 0), ("1", 1), ("00010", 10), ("9223372036854775807", Int.max),
  ])
  func `a count is digits alone`(text: String, count: Int) throws {
    #expect(try Int(parsingCount: text.utf8) == count)
  }

  @Test(arguments: [
    ("", "is empty"), ("-1", "is negative"), ("x", "is not a number"), ("+1", "is not a number"),
    ("1.0", "is not a whole number"), ("1.5", "is not a whole number"),
    ("1K", "is not a whole number"), ("1 ", "is not a whole number"),
    ("9223372036854775808", "is too large"), ("99999999999999999999", "is too large"),
  ])
  func `anything else is refused with the reason`(text: String, reason: String) throws {
    let error = #expect(throws: ValueError.self) { try Int(parsingCount: text.utf8) }
    #expect(try #require(error).description.contains(reason))
  }
}
