import Foundation
import Testing

struct `Verifying and stamping` {
  let scene: Scene
  private let name = "900150983cd24fb0d6963f7d28e17f72"

  init() throws {
    scene = try Scene()
    try scene.put("value", "abc", "--expires", "2h")
    try scene.put("other", "k")
  }

  @Test func `sound entries are counted`() throws {
    let outcome = try scene.run("verify", "c")
    #expect(outcome.status == 0 && outcome.text == "checked 2 entries: 2 sound, 0 damaged\n")
  }

  @Test func `damage is status 1, and 0 after a repair`() throws {
    _ = try scene.shell("printf x >> c/\(name)")
    let found = try scene.run("verify", "c", "--json")
    #expect(found.status == 1)
    let text = try scene.run("verify", "c").text
    #expect(text.contains("damaged        \(name)  6 B  abc\n"))
    #expect(try found.json?["damaged"] as? [String] == [name])
    #expect(try found.json?["of_another_key"] as? [String] == [])
    #expect(try found.json?["checked"] as? Int == 2)
    _ = try scene.shell("cp -a c d")
    let repair = try scene.run("verify", "d", "--repair").text
    #expect(repair.contains("damaged        \(name)  6 B  abc\n"))
    #expect(repair.hasSuffix("removed 1 entry, 6 B\n"))
    let repaired = try scene.run("verify", "c", "--repair", "--json")
    #expect(repaired.status == 0)
    #expect(try repaired.json?["removed"] as? Int == 1)
    #expect(try repaired.json?["bytes"] as? Int == 6)
    #expect(try scene.names(in: "c").count == 1)
    #expect(try scene.run("verify", "c").status == 0)
  }

  @Test func `a file made by hand carries no hash and is not damaged`() throws {
    _ = try scene.shell("printf v > c/\(name).txt; touch -m -d '+1 day' c/\(name).txt")
    let outcome = try scene.run("verify", "c")
    #expect(outcome.status == 0 && outcome.text.contains("; 1 more carries no hash"))
    #expect(try scene.run("get", "c", "abc", "--ext", "txt").text == "v")
  }

  @Test func `what the answer needs fails before it, so that stdout has one object`() throws {
    _ = try scene.shell("printf v > c/\(name).txt; touch -m -d '+1 day' c/\(name).txt")
    // No manifest that can be read.
    _ = try scene.shell("echo 'x used=1' > c/manifest")
    let outcome = try scene.run("verify", "c", "--json")
    #expect(try outcome.status == 2 && outcome.json?["checked"] == nil)
    let mistake = try scene.run("watch", "c", "--json", "-n", "x").text
    #expect(mistake.hasPrefix("{") && mistake.hasSuffix("}\n") && mistake.count { $0 == "\n" } == 1)
  }

  @Test func `another version of the format is status 3 and never removed`() throws {
    guard try scene.setAttribute(ofEntry: name, to: "2 whatever") else { return }
    #expect(try scene.run("get", "c", "abc").status == 3)
    let outcome = try scene.run("verify", "c", "--repair")
    #expect(outcome.status == 3 && outcome.text.contains("other version  \(name)\n"))
    #expect(try scene.run("stamp", "c", name).status == 3)
    #expect(try scene.names(in: "c").contains(name))
  }

  @Test func `stamp makes an edited file a valid entry, with the lifetime on record`() throws {
    _ = try scene.shell("printf ' and more' >> c/\(name)")
    #expect(try scene.run("get", "c", "abc").status == 1)
    let outcome = try scene.run("stamp", "c", name)
    #expect(outcome.status == 0 && outcome.text == "stamped 1 entry\n")
    #expect(try scene.run("get", "c", "abc").text == "value and more")
    #expect(try scene.run("verify", "c").status == 0)
    let left = try scene.shell("echo $(( $(stat -c %Y c/\(name)) - $(date +%s) ))").text
    #expect((7000...7200).contains(Int(left.dropLast()) ?? 0))
    let entries = try scene.run("list", "c", "--json", "--sort", "name").json?["entries"]
    let entry = try #require(entries as? [[String: Any]]).last
    #expect(entry?["key"] as? String == "abc" && entry?["lifetime"] as? Int == 7200)
  }

  @Test func `stamp takes a lifetime of its own and makes entries of files made by hand`() throws {
    _ = try scene.shell("printf v > c/\(name).txt; : > c/\(name).empty")
    let outcome = try scene.run(
      "stamp", "c", "\(name).txt", "\(name).empty", "--expires", "never", "--json")
    #expect(try outcome.json?["stamped"] as? Int == 2)
    #expect(try scene.run("get", "c", "abc", "--ext", "txt").text == "v")
    #expect(try scene.run("get", "c", "abc", "--ext", "empty").status == 0)
    #expect(try scene.shell("stat -c %Y c/\(name).txt").text == "8589934592\n")
  }

  @Test func `stamp without files takes those made by hand, no damaged and no expired one`() throws
  {
    _ = try scene.shell(
      """
      touch -m c/8ce4b16b22b58894aa86c421e8759df3
      printf x >> c/\(name); touch -m -d '+1 hour' c/\(name); printf v > c/\(name).txt
      """)
    let outcome = try scene.run("stamp", "c")
    #expect(outcome.text == "stamped 0 entries\n" && outcome.talk.contains("left out 1 expired"))
    #expect(try scene.run("stamp", "c", "--expires", "7d").text == "stamped 1 entry\n")
    #expect(try scene.run("get", "c", "k").talk.contains("it has expired"))
    #expect(try scene.run("get", "c", "abc").talk.contains("damaged"))
    #expect(try scene.run("get", "c", "abc", "--ext", "txt").text == "v")
    #expect(try scene.run("stamp", "c").text == "stamped 0 entries\n")
    #expect(try scene.run("stamp", "c", name, "8ce4").text == "stamped 2 entries\n")
    #expect(try scene.run("verify", "c").status == 0)
  }

  @Test func `a file that was moved to another key's name is told and not stamped`() throws {
    _ = try scene.shell("cd c; mv \(name) 8ce4b16b22b58894aa86c421e8759df3")
    #expect(try scene.run("why", "c", "8ce4", "--name").text.contains("is of another key, 'abc'"))
    #expect(try scene.run("verify", "c").text.contains("of another key "))
    let moved = try scene.run("verify", "c", "--json").json?["of_another_key"] as? [String]
    #expect(moved?.count == 1)
    #expect(try scene.run("get", "c", "8ce4", "--name").talk.contains("that it is of another key"))
    let outcome = try scene.run("stamp", "c", "8ce4b16b")
    #expect(outcome.status == 1 && outcome.talk.contains("records another key"))
    #expect(try scene.run("get", "c", "k").status == 1)
  }

  @Test func `stamp without files keeps the expiries of a copy without attributes`() throws {
    _ = try scene.shell(
      "mkdir d; cp c/CACHEDIR.TAG d; cp --preserve=timestamps c/\(name) d; : > d/\(name).x")
    let expiry = try scene.shell("stat -c %y d/\(name)").text
    let outcome = try scene.run("stamp", "d")
    #expect(outcome.text == "stamped 1 entry\n" && outcome.talk.contains("left out 1 empty"))
    #expect(try scene.shell("stat -c %y d/\(name)").text == expiry)
    #expect(try scene.run("verify", "d").text.contains("1 sound"))
  }

  @Test func `stamp without files leaves another program's files and fixtures alone`() throws {
    _ = try scene.shell("mkdir d; echo > d/\(name).png; touch -d '-1 day' d/*")
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    let before = try scene.shell("stat -c '%n %y %z' d/* f/*").text
    #expect(try scene.run("stamp", "d").status == 3)
    #expect(try scene.run("stamp", "f").status == 2)
    #expect(try scene.shell("stat -c '%n %y %z' d/* f/*").text == before)
    #expect(try scene.run("stamp", "d", "\(name).png").status == 0)
  }

  @Test func `a file to stamp that is not there is status 1`() throws {
    let outcome = try scene.run("stamp", "c", String(repeating: "0", count: 32), name, "--json")
    #expect(outcome.status == 1 && outcome.talk.contains("is not there"))
    #expect(try outcome.json?["stamped"] as? Int == 1)
    #expect(try outcome.json?["missing"] as? Int == 1)
  }
}
