import Larder
import Testing

@testable import LarderSystem
@testable import LarderTool

struct JSONMembersTests {
  @Test func `a key of text is a text`() {
    #expect(
      JSONValue.object(JSONValue.keyMembers(Array("a/\u{e9}".utf8))) == ["key": "a/\u{e9}"])
  }

  @Test func `the empty key is not the unknown one`() {
    #expect(JSONValue.object(JSONValue.keyMembers([])) == ["key": ""])
    #expect(JSONValue.object(JSONValue.keyMembers(nil)) == ["key": nil])
  }

  @Test(
    arguments: [
      ([0xFF], "/w=="), ([0x61, 0x80], "YYA="), ([0xC0, 0xAF, 0x00], "wK8A"),
    ] as [([UInt8], String)])
  func `a key that is not UTF-8 is null and in base64`(key: [UInt8], text: String) {
    #expect(
      JSONValue.object(JSONValue.keyMembers(key)) == ["key": nil, "key_base64": .string(text)])
  }

  @Test func `composed and decomposed keys stay two`() {
    let composed = JSONValue.object(JSONValue.keyMembers(Array("\u{e9}".utf8))).text
    let decomposed = JSONValue.object(JSONValue.keyMembers(Array("e\u{301}".utf8))).text
    #expect(Array(composed.utf8) != Array(decomposed.utf8))
  }

  @Test func `no time is null`() {
    #expect(JSONValue.time(nil) == nil && JSONValue.nanoseconds(nil) == nil)
  }

  @Test(
    arguments: [
      (0, 0, "1970-01-01T00:00:00Z", "0"),
      (1, 5, "1970-01-01T00:00:01.000000005Z", "1000000005"),
      (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z", "-1"),
      ((1 << 33) - 1, 0, "2242-03-16T12:56:31Z", "8589934591000000000"),
      (1 << 33, 0, "2242-03-16T12:56:32Z", "8589934592000000000"),
      (.max, 0, "9999-12-31T23:59:59.999999999Z", "9223372036854775807000000000"),
      (.min, 0, "0000-01-01T00:00:00Z", "-9223372036854775808000000000"),
    ] as [(Int64, Int64, String, String)])
  func `a time is exact in both forms, outside the years of RFC 3339 in nanoseconds`(
    seconds: Int64, nanoseconds: Int64, text: String, number: String
  ) {
    let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    #expect(JSONValue.time(time) == .string(text))
    #expect(JSONValue.nanoseconds(time).text == number + "\n")
  }
}
