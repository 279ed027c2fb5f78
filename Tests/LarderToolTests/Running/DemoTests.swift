import Foundation
import Testing

@testable import LarderTool

struct `The demo` {
  let scene: Scene

  init() throws { scene = try Scene() }

  private func run(_ options: String...) throws -> Outcome {
    try scene.run(["demo"] + options, environment: ["XDG_CACHE_HOME": scene.root.path])
  }

  @Test func `its figures are what the directory holds`() throws {
    var json = try #require(try run("--json").json)
    // On a busy machine the second for which a value lives may be over before it is read.
    for _ in 0..<5 where (json["expiry"] as? [String: Any])?["found_before"] as? Bool == false {
      json = try #require(try run("--json").json)
    }
    let eviction = try #require(json["eviction"] as? [String: Int])
    let stores = try #require(json["stores"] as? [String: Int])
    let expiry = try #require(json["expiry"] as? [String: Any])
    #expect(expiry["found_before"] as? Bool == true && expiry["found_after"] as? Bool == false)
    for reads in ["reads_disk", "reads_memory"] {
      let tally = json[reads] as? [String: Int]
      #expect(tally?["count"] == stores["count"] && tally?["bytes"] == stores["bytes"])
    }
    let (limit, after) = (eviction["limit"] ?? 0, eviction["bytes_after"] ?? .max)
    #expect(after <= limit / 2 && (eviction["bytes_before"] ?? .max) <= limit)
    #expect(eviction["recent_kept"] == eviction["recent"] && eviction["expired"] == 1)
    let info = try #require(try scene.run("info", "larder-demo", "--json").json)
    #expect(info["entries"] as? Int == eviction["entries_after"])
    #expect(info["bytes"] as? Int == after)
    #expect(try scene.run("verify", "larder-demo").status == 0)
    // As a directory that a cache makes, where the file system has the no-atime flag.
    #expect(!(try scene.run("info", "larder-demo").text.contains("no-atime")))
  }

  @Test(arguments: [
    "$larder put mine k", "mkdir larder-demo; echo x > larder-demo/file", "mkdir larder-demo",
    "mkdir larder-demo; mkfifo larder-demo/CACHEDIR.TAG", "echo file > larder-demo",
    "$larder put larder-demo k", "ln -s nowhere larder-demo",
  ])
  func `a directory that it has not made is left alone`(making: String) throws {
    _ = try scene.shell("printf v > v; \(making) < v; [ -e mine ] && ln -s mine larder-demo")
    let state = "ls -lR larder-demo mine 2>&1"
    let before = try scene.shell(state).text
    let place = scene.root.path
    let failed = try scene.run(
      ["demo"], environment: ["XDG_CACHE_HOME": place, "HOME": "", "TMPDIR": place])
    #expect(failed.status == 4 && failed.output.isEmpty)
    #expect(failed.talk.contains("larder-demo"))
    #expect(try scene.shell(state).text == before)
    // The next place is used. Once is enough, because a demo takes a second.
    guard making.contains("mine") else { return }
    let outcome = try run("--json")
    #expect(try scene.shell(state).text == before)
    #expect(try outcome.json?["directory"] as? String == scene.root.path + "/.cache/larder-demo")
  }

  @Test func `nothing of the environment commands the terminal`() throws {
    let place = scene.root.path + "/\u{1b}[31m\u{202e}it's"
    let outcome = try scene.run(["demo"], environment: ["XDG_CACHE_HOME": place])
    #expect(outcome.status == 0)
    let isSafe = outcome.text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 }
    #expect(isSafe && !outcome.text.contains("\u{202e}"))
    let command = try #require(outcome.text.split(separator: "\n").first { $0.contains("wc -l") })
    #expect(try scene.shell(String(command)).status == 0)
  }

  @Test func `a second demo starts anew, and its commands can be pasted`() throws {
    #expect(try run().status == 0)
    let text = try run().text
    #expect(text.contains("entries of an earlier demo"))
    #expect(text.hasPrefix("Larder: a disk cache you can read with ls\n"))
    let commands = text.split(separator: "\n").suffix(12).filter { !$0.hasPrefix("   # ") }
    #expect(commands.count == 6)
    let digest = try scene.shell(String(commands[commands.startIndex + 3])).text.prefix(32)
    #expect(try scene.names(in: "larder-demo").contains(String(digest)))
    for command in commands { #expect(try scene.shell(String(command)).status == 0) }
    // The last one removes the directory.
    #expect(!FileManager.default.fileExists(atPath: scene.root.path + "/larder-demo"))
  }

  @Test func `a debug build says that its times are none of a release build`() throws {
    let json = try #require(try run("--json").json)
    let isDebugBuild = try #require(json["debug_build"] as? Bool)
    #if DEBUG
      #expect(isDebugBuild)
    #endif
    let text = try run().text
    #expect(text.contains("swift run -c release larder demo") == isDebugBuild)
    #expect(text.contains("debug, in which") == isDebugBuild)
  }

  @Test func `the listing has the order and the times of ls -ltu`() throws {
    let text = try run().text
    let shown = text.split(separator: "\n").filter { $0.contains("-rw------- ") }
    let listed = try scene.shell("ls -ltu larder-demo | grep -- -rw | grep -v CACHEDIR").text
    let names = { (lines: [Substring]) in
      lines.map { $0.split(separator: " ").last.map(String.init) }
    }
    #expect(shown.count == 6)
    #expect(names(shown) == names(Array(listed.split(separator: "\n").prefix(6))))
    #expect(text.contains("by last use as ls -ltu sorts it"))
  }

  @Test(arguments: [
    (Duration.nanoseconds(7), "7 ns"), (.nanoseconds(1740), "1.74 us"),
    (.microseconds(59), "59.0 us"),
    (.microseconds(12_345), "12.3 ms"), (.milliseconds(123), "123 ms"),
    (.milliseconds(1020), "1.02 s"),
    (.seconds(-1), "0 ns"), (.milliseconds(100_050), "100 s"),
  ])
  func `a measured time has three figures`(time: Duration, text: String) {
    #expect(time.measuredText == text)
  }

  @Test(arguments: [
    ("/tmp/x-1", "/tmp/x-1"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$x", "'$x'"),
    ("~", "'~'"), ("a\nb", "'a\nb'"), ("x'\u{301};id", "'x'\\''\u{301};id'"),
  ])
  func `a word of the shell is quoted where it must be`(text: String, word: String) {
    #expect(text.shellWord == word)
  }
}
