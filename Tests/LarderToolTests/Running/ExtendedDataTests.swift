import Foundation
import Testing

struct `Extended data` {
  let scene: Scene
  /// Whether the temporary directory's file system keeps attributes, and so the data.
  let hasAttributes: Bool

  init() throws {
    scene = try Scene()
    let line =
      "touch a && setfattr -n user.larder.test -v 1 a 2> err || $larder put t k --data x < a"
    hasAttributes = try scene.shell(line).status == 0
    _ = try scene.shell("rm -rf a err t")
  }

  @Test(arguments: [
    Array("\"v1\"".utf8), [0xff, 0, 0x0a], Array("@home".utf8),
    [UInt8](repeating: 7, count: 1024),
  ])
  func `what put keeps beside a value comes back byte for byte`(data: [UInt8]) throws {
    guard hasAttributes else { return }
    try scene.write(data, to: "data")
    let stored = try scene.run("put", "c", "k", "--data", "@data", input: Data("v".utf8))
    #expect(stored.status == 0 && stored.output.isEmpty && stored.talk.isEmpty)
    let got = try scene.run("get", "c", "k", "--data-only")
    #expect(got.status == 0 && got.output == Data(data) && got.talk.isEmpty)
    #expect(try scene.run("get", "c", "k", "--data-only", "-o", "out").output.isEmpty)
    #expect(try scene.read("out") == Data(data))
    #expect(try scene.run("get", "c", "k").text == "v")
    #expect(try scene.run("verify", "c").status == 0)
  }

  @Test func `data come from the line, from a file, or from stdin, which one thing alone reads`()
    throws
  {
    guard hasAttributes else { return }
    try scene.put("v", "line", "--data", "an etag")
    #expect(try scene.run("get", "c", "line", "--data-only").text == "an etag")
    try scene.write("v".utf8, to: "v")
    let input = Data("from stdin".utf8)
    #expect(try scene.run("put", "c", "stdin", "v", "--data", "@-", input: input).status == 0)
    #expect(try scene.run("get", "c", "stdin", "--data-only").text == "from stdin")
    for line in [["put", "c", "k"], ["record", "f", "k"]] {
      let outcome = try scene.run(line + ["--data", "@-"], input: input)
      #expect(outcome.status == 2 && outcome.talk.contains("only one of key, value and data"))
    }
    #expect(try scene.run("put", "c", "k", "v", "--data=").status == 0)
    let none = try scene.run("get", "c", "k", "--data-only")
    #expect(none.status == 0 && none.output.isEmpty && none.talk.isEmpty)
  }

  @Test func `data that are too long or cannot be read leave the older value alone`() throws {
    try scene.put("old", "k")
    try scene.write([UInt8](repeating: 7, count: 1025), to: "long")
    try scene.write("v".utf8, to: "v")
    let long = try scene.run("put", "c", "k", "v", "--data", "@long")
    #expect(long.status == 2 && long.talk.contains("more than 1,024 bytes"))
    #expect(try scene.run("put", "c", "k", "v", "--data", "@/dev/zero").status == 2)
    #expect(try scene.run("put", "c", "k", "v", "--data", "@missing").status == 4)
    #expect(try scene.run("put", "c", "k", "v", "--data", "@").status == 2)
    #expect(try scene.run("put", "new", "k", "v", "--data", "@missing").status == 4)
    #expect(try scene.run("get", "c", "k").text == "old")
    #expect(try scene.names(in: ".") == ["c", "long", "v"])
  }

  @Test func `list, get and why show them in JSON, as text or in base64`() throws {
    guard hasAttributes else { return }
    try scene.put("v", "text", "--data", "\u{e9}tag\n")
    try scene.put("v", "none")
    try scene.write([0xFF], to: "data")
    try scene.put("v", "bytes", "--data", "@data")
    let list = try #require(try scene.run("list", "c", "--json", "--sort", "key").json)
    let entries = try #require(list["entries"] as? [[String: Any]])
    #expect(entries.map { $0["extended_data"] as? String } == [nil, nil, "\u{e9}tag\n"])
    #expect(entries.map { $0["extended_data_base64"] as? String } == ["/w==", nil, nil])
    #expect(entries.allSatisfy { $0["extended_data"] != nil })
    let got = try #require(try scene.run("get", "c", "text", "-o", "out", "--json").json)
    #expect(got["extended_data"] as? String == "\u{e9}tag\n" && got["size"] as? Int == 1)
    let only = try scene.run("get", "c", "bytes", "-o", "out", "--data-only", "--json").json
    #expect(only?["extended_data_base64"] as? String == "/w==")
    #expect(try scene.read("out") == Data([0xFF]))
    let why = try #require(try scene.run("why", "c", "text", "--json").json)
    #expect((why["entry"] as? [String: Any])?["extended_data"] as? String == "\u{e9}tag\n")
  }

  @Test func `why shows their beginning, and nothing that a terminal obeys`() throws {
    guard hasAttributes else { return }
    try scene.put("v", "k", "--data", "\u{1b}[2J")
    let why = try scene.run("why", "c", "k").text
    #expect(why.contains("beside it 4 B of extended data, '\\u{1b}[2J'") && !why.contains("\u{1b}"))
    try scene.put("v", "k", "--data", String(repeating: "x", count: 1024))
    let long = try scene.run("why", "c", "k").text
    #expect(long.contains("1.0 KiB of extended data") && long.contains("xxx…'"))
    #expect(!long.contains(String(repeating: "x", count: 62)))
    try scene.put("v", "k")
    #expect(try !scene.run("why", "c", "k").text.contains("extended"))
  }

  @Test func `record keeps them in the line, and unpack brings them back`() throws {
    let recorded = try scene.run(
      "record", "f", "k", "--data", "an etag", input: Data("v".utf8))
    #expect(recorded.status == 0 && recorded.talk.isEmpty)
    let manifest = String(decoding: try scene.read("f/manifest"), as: UTF8.self)
    #expect(manifest.hasSuffix("data=\"an etag\"\n"))
    #expect(try scene.run("fixture", "check", "f").status == 0)
    try scene.write("v".utf8, to: "v")
    let pairs = try scene.run("record", "f", "a", "v", "b", "v", "--data", "x")
    #expect(pairs.status == 2 && pairs.talk.contains("one KEY and FILE alone"))
    guard hasAttributes else { return }
    #expect(try scene.run("fixture", "unpack", "f", "c").status == 0)
    #expect(try scene.run("get", "c", "k", "--data-only").text == "an etag")
  }
}
