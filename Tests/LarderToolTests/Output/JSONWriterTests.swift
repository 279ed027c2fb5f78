import Testing

@testable import LarderTool

struct JSONWriterTests {
  @Test(
    arguments: [
      (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (-1, "-1"),
      (.integer(Int128(Int64.max)), "9223372036854775807"),
      (.integer(Int128(Int64.min)), "-9223372036854775808"),
      (.integer(Int128(UInt64.max)), "18446744073709551615"),
      ("", "\"\""), ([], "[]"), ([:], "{}"),
      ([1, "a"], "[\n  1,\n  \"a\"\n]"),
      (["b": 1, "a": nil], "{\n  \"b\": 1,\n  \"a\": null\n}"),
      (["x": [], "y": [:]], "{\n  \"x\": [],\n  \"y\": {}\n}"),
      ([[["k": [1]]]], "[\n  [\n    {\n      \"k\": [\n        1\n      ]\n    }\n  ]\n]"),
      (["a": 1, "a": 2], "{\n  \"a\": 1,\n  \"a\": 2\n}"),
    ] as [(JSONValue, String)])
  func `a value has one text, members in the order given`(value: JSONValue, text: String) {
    #expect(value.text == text + "\n")
  }

  @Test func `pieces make the same text as a value`() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.write("schema", 1)
    writer.write(name: "entries")
    writer.beginArray()
    writer.write(["name": "a"])
    writer.write(["name": "b"])
    writer.end()
    writer.write("last", nil)
    writer.end()
    let value: JSONValue = ["schema": 1, "entries": [["name": "a"], ["name": "b"]], "last": nil]
    #expect(writer.takeText() + "\n" == value.text)
  }

  @Test func `text is handed over once`() {
    var writer = JSONWriter()
    var text = ""
    writer.beginArray()
    for number in 0..<1000 {
      writer.write(JSONValue(number))
      if writer.pendingByteCount > 100 { text += writer.takeText() }
    }
    writer.end()
    text += writer.takeText()
    #expect(text + "\n" == JSONValue.array((0..<1000).map { JSONValue($0) }).text)
    #expect(writer.takeText().isEmpty)
    #expect(writer.pendingByteCount == 0)
  }

  @Test func `an end without a beginning changes nothing`() {
    var writer = JSONWriter()
    writer.write(7)
    writer.end()
    #expect(writer.takeText() == "7")
  }

  @Test func `integers of every width are exact`() {
    #expect(JSONValue(UInt64.max) == .integer(18_446_744_073_709_551_615))
    #expect(JSONValue(Int64.min) == .integer(-9_223_372_036_854_775_808))
    #expect(JSONValue(UInt8(255)) == 255)
  }

  @Test func `an absent text is null`() {
    #expect(JSONValue(nil as String?) == .null)
    #expect(JSONValue("x" as String?) == .string("x"))
  }
}
