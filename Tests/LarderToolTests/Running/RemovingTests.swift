import Foundation
import Testing

struct `Removing many` {
  let scene: Scene

  init() throws { scene = try Scene() }

  /// Stores ten entries of ten bytes. The first is the least recently used, and the last two have
  /// expired.
  private func fill() throws {
    for number in 0..<10 {
      try scene.put("ten bytes.", "\(number)")
      let age = "\(10 - number) hours ago"
      _ = try scene.shell("touch -a -d '\(age)' \"$($larder path c \(number))\"")
    }
    _ = try scene.shell("for k in 8 9; do touch -m \"$($larder path c $k)\"; done")
  }

  private var keys: [String] {
    get throws {
      let json = try scene.run("list", "c", "--json").json
      let entries = try #require(json?["entries"] as? [[String: Any]])
      return entries.compactMap { $0["key"] as? String }
    }
  }

  @Test(
    arguments: [
      (["expire"], 2, ["0", "1", "2", "3", "4", "5", "6", "7"]),
      (["trim", "--to", "35"], 7, ["5", "6", "7"]),
      (["trim", "--to", "1K"], 2, ["0", "1", "2", "3", "4", "5", "6", "7"]),
      (["trim", "--count", "1"], 9, ["7"]),
      (["trim", "--age", "4h30m"], 8, ["6", "7"]),
      (["clear", "--force"], 10, []),
    ] as [([String], Int, [String])])
  func `a removal takes what its dry run said it would`(
    line: [String], removed: Int, left: [String]
  ) throws {
    try fill()
    let arguments = [line[0], "c"] + line.dropFirst()
    let dry = try #require(try scene.run(arguments + ["--dry-run", "--json"]).json)
    #expect(try keys.count == 10)
    let real = try #require(try scene.run(arguments + ["--json"]).json)
    for json in [dry, real] {
      #expect(json["schema"] as? Int == 1 && json["failed"] as? Int == 0)
      #expect(json["removed"] as? Int == removed && json["bytes"] as? Int == 10 * removed)
    }
    #expect(dry["dry_run"] as? Bool == true && real["dry_run"] == nil)
    #expect(try keys == left)
    let again = try scene.run(arguments)
    #expect(again.status == 0 && again.text == "removed 0 entries, 0 B\n")
  }

  @Test(
    arguments: [
      (["expire"], 2), (["trim", "--to", "35"], 7), (["clear", "--force"], 10),
    ] as [([String], Int)])
  func `a removal counts on a terminal what it has removed`(line: [String], count: Int) throws {
    try fill()
    let outcome = try scene.runOnTerminal([line[0], "c"] + line.dropFirst())
    #expect(outcome.lines.last == "removed \(count) entries, \(count)0 B")
    #expect(try keys.count == 10 - count)
  }

  @Test func `a dry run changes nothing at all`() throws {
    try fill()
    let state = "stat -c '%n %x %y %z' c c/*"
    let before = try scene.shell(state).text
    let outcome = try scene.run("clear", "c", "--dry-run")
    #expect(outcome.text == "would remove 10 entries, 100 B\n")
    #expect(try scene.shell(state).text == before)
  }

  @Test(arguments: [["expire", "c"], ["trim", "c", "--count", "1"], ["clear", "c", "--force"]])
  func `a dry run is refused where the removal would be`(line: [String]) throws {
    try fill()
    _ = try scene.shell("chmod 777 c")
    let real = try scene.run(line)
    let dry = try scene.run(line + ["--dry-run"])
    #expect(real.status == 4 && dry.status == 4 && real.talk.contains("chmod go-w"))
    #expect(dry.talk == real.talk && dry.text.isEmpty)
  }

  @Test func `what is not an entry stays`() throws {
    try fill()
    _ = try scene.shell("mkdir c/900150983cd24fb0d6963f7d28e17f72; touch c/readme")
    #expect(try scene.run("clear", "c", "--force").status == 0)
    #expect(try scene.names(in: "c") == ["900150983cd24fb0d6963f7d28e17f72", "readme"])
  }

  @Test(
    arguments: [
      ["expire", "c"], ["trim", "c", "--to", "1"], ["clear", "c", "--force"],
      ["verify", "c", "--repair"],
    ])
  func `another program's files that are named by an MD5 are no cache`(line: [String]) throws {
    _ = try scene.shell("mkdir c; echo > c/900150983cd24fb0d6963f7d28e17f72.png")
    let refused = try scene.run(line)
    #expect(refused.status == 3 && refused.talk.contains("CACHEDIR.TAG"))
    #expect(try scene.names(in: "c") == ["900150983cd24fb0d6963f7d28e17f72.png"])
    _ = try scene.shell("touch c/CACHEDIR.TAG")
    #expect(try scene.run(line).status != 3)
  }

  @Test(
    arguments: [
      ["expire", "f"], ["trim", "f", "--age", "1s"], ["clear", "f", "--force"],
      ["verify", "f", "--repair"],
    ])
  func `a fixture keeps what its checkout made look expired`(line: [String]) throws {
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    _ = try scene.shell("touch f/*")
    let names = try scene.names(in: "f")
    let refused = try scene.run(line)
    #expect(refused.status == 2 && refused.talk.contains("fixture"))
    #expect(try scene.names(in: "f") == names)
    // A merge leaves such a line.
    _ = try scene.shell("echo '<<<<<<< ours' >> f/manifest")
    let damaged = try scene.run(line)
    #expect(damaged.status == 2 && damaged.talk.contains("line 2 is not the line of an entry"))
    #expect(try scene.names(in: "f") == names)
  }

  @Test(
    arguments: [
      ["expire", "f"], ["trim", "f", "--age", "1s"], ["clear", "f", "--force"],
      ["verify", "f", "--repair"],
    ])
  func `a fixture keeps its files without one line that can be read`(line: [String]) throws {
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    _ = try scene.shell("cp f/manifest m; touch -d 2020-01-01 f/*")
    let names = try scene.names(in: "f")
    for (change, said) in [
      (#"sed -i 's/$/\r/'"#, "DIR is a fixture"), ("truncate -s 0", "DIR is a fixture"),
      ("sed -i s/lifetime=/life=/", "line 1 is not"), ("sed -i s/used=/use=/", "line 1 is not"),
      ("sed -i s/^9/g/", "line 1 is not"), ("sed -i s/^/\"/", "line 1 is not"),
    ] {
      _ = try scene.shell("cp m f/manifest; \(change) f/manifest")
      let refused = try scene.run(line)
      #expect(refused.status == 2 && refused.talk.contains(said), "\(change): \(refused.talk)")
      #expect(try scene.names(in: "f") == names, "\(change)")
    }
  }
}
