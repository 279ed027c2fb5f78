import Foundation
import Testing

@testable import LarderTool

struct `A failure with --json` {
  let scene: Scene

  init() throws { scene = try Scene() }

  @Test(
    arguments: [
      (["list", "d"], 3, "directoryMissing", "larder put would make it"),
      (["get", "d", "k", "-o", "f"], 3, "directoryMissing", "larder put would make it"),
      (["watch", "d"], 3, "directoryMissing", "--wait would wait for it"),
      (["fixture", "check", "d"], 3, "directoryMissing", "larder record would make it"),
      (["info", "file"], 3, "notADirectory", "name the directory of a cache"),
      (["verify", "other"], 3, "notACache", "name the directory of a cache"),
      (
        ["put", "open", "k", "file"], 4, "unsafeDirectory",
        "use a directory of your own, run this as its owner, or chmod go-w it"
      ),
      (["put", "c", "k", "missing"], 4, "io", nil),
      (["list"], 2, "usage", "larder list --help"),
      (["lst", "d"], 2, "usage", "larder --help"),
      (["clear", "other"], 2, "usage", "larder clear --help"),
    ] as [([String], Int, String, String?)])
  func `is one object with the code and the cure, and the sentence on stderr`(
    line: [String], status: Int, code: String, cure: String?
  ) throws {
    _ = try scene.shell("echo x > file; mkdir other open; echo x > other/x; chmod 777 open")
    let outcome = try scene.run(line + ["--json"])
    let json = try #require(try outcome.json)
    #expect(outcome.status == status && json["status"] as? Int == status)
    #expect(json["schema"] as? Int == 1 && json["code"] as? String == code)
    #expect(json["cure"] as? String == cure)
    let sentence = try #require(json["error"] as? String)
    #expect(outcome.talk.contains(sentence) && outcome.talk.contains(cure ?? sentence))
    // On one line, as the events before it.
    if line[0] == "watch" { #expect(outcome.text.split(separator: "\n").count == 1) }
    // Without the option there is nothing on stdout.
    #expect(try scene.run(line).output.isEmpty)
  }

  @Test func `names the number of the system's error`() throws {
    let json = try #require(try scene.run("put", "c", "k", "missing", "--json").json)
    #expect(json["errno"] as? Int == 2)
    let unread = try scene.run("list", "--", "--json")
    #expect(unread.status == 3 && unread.output.isEmpty)
  }

  @Test func `leaves the status alone where stdout is what failed`() throws {
    try scene.put("v", "k")
    let outcome = try scene.shell("$larder info c --json > /dev/full")
    #expect(outcome.status == 4 && outcome.talk.contains("No space left"))
  }
}
