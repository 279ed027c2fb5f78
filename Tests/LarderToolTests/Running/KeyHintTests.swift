import Foundation
import Testing

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
    let attribute = "1 AAAAAAAAAAA 7d #AAAAAAAAAAAAAAAA \(end)"
    return try scene.shell("setfattr -n user.larder -v '\(attribute)' c/\(name)").status == 0
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
