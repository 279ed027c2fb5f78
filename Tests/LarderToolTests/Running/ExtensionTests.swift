import Foundation
import Testing

struct `Entries with extensions` {
  let scene: Scene

  init() throws { scene = try Scene() }

  @Test func `without one the bare name comes first, then the only file there is`() throws {
    try scene.put("json", "abc", "--ext", "json")
    #expect(try scene.names(in: "c") == ["900150983cd24fb0d6963f7d28e17f72.json"])
    #expect(try scene.run("get", "c", "abc").text == "json")
    #expect(try scene.run("path", "c", "abc").text.hasSuffix(".json\n"))
    try scene.put("over it", "abc")
    #expect(try scene.run("get", "c", "abc", "--ext", "json").text == "over it")
    _ = try scene.shell("cd c; mv *.json $(basename -s .json *.json)")
    try scene.put("json", "abc", "--ext", "json")
    try scene.put("bare", "abc")
    #expect(try scene.run("get", "c", "abc").text == "bare")
    #expect(try scene.run("get", "c", "abc", "--ext", ".json").text == "json")
  }

  @Test(arguments: ["get", "rm", "path", "put"])
  func `several files of one key are listed and none is chosen`(verb: String) throws {
    try scene.put("1", "abc", "--ext", "json")
    try scene.put("2", "abc", "--ext", "txt")
    let outcome = try scene.run(verb, "c", "abc")
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(
      outcome.talk.contains("f72.json, 900150983cd24fb0d6963f7d28e17f72.txt; say which with --ext"))
    #expect(try scene.run(verb, "c", "abc", "--ext", "txt").status == 0)
    #expect(try scene.names(in: "c").count == (verb == "rm" ? 1 : 2))
  }

  @Test func `one walk serves any number of keys to remove`() throws {
    for key in ["a", "b", "d"] { try scene.put("v", key, "--ext", key) }
    let outcome = try scene.run("rm", "c", "a", "b", "c", "d", "--json")
    #expect(outcome.status == 1 && outcome.talk.contains("the key 'c' has none"))
    let json = try #require(try outcome.json)
    #expect(json["removed"] as? Int == 3 && json["missing"] as? Int == 1)
    #expect(json["failed"] as? Int == 0 && json["bytes"] as? Int == 3)
    #expect(try scene.names(in: "c").isEmpty)
  }
}
