import Foundation
import Testing

@testable import LarderTool

struct `The end of a key that is not recorded` {
  let scene: Scene
  private let end = "v1/users/1234?full=1"
  /// The MD5 of `abc`.
  private let name = "900150983cd24fb0d6963f7d28e17f72"

  init() throws { scene = try Scene() }

  /// Stores a value under `abc` and replaces its attribute by one with the digest and end of
  /// another key, so that the test is the same on every file system. False if that is not
  /// possible here.
  private func fill(_ end: String) throws -> Bool {
    try scene.put("value", "abc")
    return try scene.setAttribute(
      ofEntry: name, to: "1 AAAAAAAAAAA 7d #AAAAAAAAAAAAAAAA \(end)")
  }

  @Test func `is shown after dots where keys are shown, and is no key`() throws {
    guard try fill(end) else { return }
    for verb in [["list", "c"], ["top", "c"], ["list", "c", "--sort", "key"]] {
      #expect(try scene.run(verb).text.contains("  ...\(end)\n"), "\(verb)")
    }
    let json = try scene.run("list", "c", "--json").json
    let entry = try #require((json?["entries"] as? [[String: Any]])?.first)
    #expect(entry["key"] is NSNull && entry["key_base64"] == nil)
    #expect(entry["key_hint"] as? String == "\u{2026}\(end)")
    #expect(json?["unknown_keys"] as? Int == 1)
    let page = try scene.run("report", "c").text
    #expect(page.contains("[\"\(name)\",\"\u{2026}\(end)\","))
    #expect(try scene.runOnTerminal(["list", "c"], columns: 200).text.contains("\u{2026}\(end)"))
    for key in [end, "\u{2026}\(end)", "...\(end)"] {
      let outcome = try scene.run("get", "c", key)
      #expect(outcome.status == 1)
      #expect(outcome.talk.contains("is not recorded; its name") == (key != end))
      #expect(try scene.run("rm", "c", key).status == 1)
    }
    #expect(try scene.run("why", "c", "abc").text.contains("..." + end))
  }

  @Test func `is explained below the table on a terminal alone`() throws {
    let sentence = "is the end of an unrecorded key"
    try scene.put("value", "known")
    _ = try scene.shell("printf v > c/00000000000000000000000000000000")
    // The key of a file made by hand is not known, and no row shows the end of one.
    #expect(try scene.run("list", "c", "--json").json?["unknown_keys"] as? Int == 1)
    #expect(try !scene.runOnTerminal(["list", "c"]).text.contains(sentence))
    guard try fill(end) else { return }
    let outcome = try scene.runOnTerminal(["list", "c"])
    #expect(outcome.text.contains("\u{2026} \(sentence), in 1 row; larder why DIR KEY finds it"))
    #expect(outcome.lines.last?.contains("next: larder ") == true)
    #expect(
      try scene.runOnTerminal(["list", "c"], columns: 40).lines.allSatisfy {
        $0.visibleWidth <= 40 || $0.contains("next: ")
      })
    let first = try scene.runOnTerminal(["list", "c", "--sort", "name", "-n", "1"])
    #expect(!first.text.contains(sentence))
    for options in [["--plain"], ["--json"], ["--names"]] {
      #expect(try !scene.runOnTerminal(["list", "c"] + options).text.contains(sentence))
    }
    let piped = try scene.run("list", "c")
    #expect(!piped.talk.contains(sentence) && !piped.text.contains(sentence))
    let json = try scene.run("list", "c", "--json").json
    #expect(json?["unknown_keys"] as? Int == 2 && (json?["entries"] as? [Any])?.count == 3)
  }

  @Test func `is missed in a copy without attributes`() throws {
    guard try fill(end) else { return }
    _ = try scene.shell("mkdir d; cp --preserve=timestamps c/* d; $larder stamp d --expires 7d")
    let outcome = try scene.run("diff", "c", "d")
    #expect(outcome.status == 1 && outcome.text.contains("key  "))
    #expect(outcome.text.contains("...\(end)\n"))
  }

  @Test func `commands no terminal`() throws {
    guard try fill("\u{1b}[2J\u{202e}") else { return }
    for verb in ["list", "top", "report", "why"] {
      let text = try scene.run([verb, "c"] + (verb == "why" ? ["abc"] : [])).text
      let isTame = text.unicodeScalars.allSatisfy { $0 != "\u{1b}" && $0 != "\u{202e}" }
      #expect(isTame && text.contains(#"u{1b}[2J"#), "\(verb)")
    }
  }

  @Test(arguments: [("\u{2026}", #"\u{2026}"#), ("...", #"\u{2e}.."#)])
  func `is looked like by no key`(dots: String, spelling: String) throws {
    try scene.put("value", dots + "v1")
    #expect(try scene.run("list", "c").text.contains("  \(spelling)v1\n"))
    #expect(try scene.run("get", "c", dots + "v1").text == "value")
  }
}
