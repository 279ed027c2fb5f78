import Foundation
import LarderBasics
import LarderDisk
import LarderSystem
import Testing

@testable import LarderTool

struct `Looking closer` {
  let scene: Scene

  init() throws { scene = try Scene() }

  @Test func `top has the largest first and counts every entry in each spread`() throws {
    try scene.put(String(repeating: "x", count: 5000), "big", "--expires", "never")
    try scene.put("x", "small", "--expires", "2h")
    try scene.put("", "empty", "--expires", "2d")
    let json = try #require(try scene.run("top", "c", "--json", "-n", "2").json)
    #expect(json["schema"] as? Int == 1 && json["entries"] as? Int == 3)
    #expect(json["bytes"] as? Int == 5001)
    let largest = try #require(json["largest"] as? [[String: Any]])
    #expect(largest.map { $0["key"] as? String } == ["big", "small"])
    for name in ["sizes", "expiry", "last_access"] {
      let classes = try #require(json[name] as? [[String: Any]])
      #expect(classes.reduce(0) { $0 + ($1["entries"] as? Int ?? 0) } == 3)
      #expect(classes.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) } == 5001)
    }
    let text = try scene.run("top", "c").text
    #expect(text.contains("4.9 KiB") && text.contains("99.9 %") && text.contains("#####"))
    #expect(text.contains("3 entries, 4.9 KiB\n") && text.contains("EXPIRES IN"))
  }

  @Test func `top of an empty cache has no rows`() throws {
    _ = try scene.shell("mkdir -m 700 c")
    let outcome = try scene.run("top", "c")
    #expect(outcome.status == 0 && outcome.text.contains("0 entries, 0 B\n"))
  }

  @Test func `why tells a value that is there from every kind of one that is not`() throws {
    try scene.put("value", "abc", "--expires", "2h")
    let name = "c/900150983cd24fb0d6963f7d28e17f72"
    #expect(try state("abc") == ["fresh", "A read finds it, sound: 5 B, used", "0"])
    #expect(try state("nope") == ["absent", "there is no file of that name", "1"])
    _ = try scene.shell("printf x >> \(name); touch -m -d '+1 day' \(name)")
    #expect(try state("abc") == ["damaged", "its content does not match its hash", "1"])
    _ = try scene.shell("touch -m -d '-90 days' \(name)")
    #expect(try state("abc") == ["expired", "it expired 9", "1"])
    _ = try scene.shell("rm \(name); mkdir \(name)")
    #expect(try state("abc") == ["foreign", "what has the file's name is no regular file", "1"])
  }

  /// Returns the state of a key, the expected words of its sentence, and the status.
  private func state(_ key: String) throws -> [String] {
    let outcome = try scene.run("why", "c", key, "--json")
    let json = try #require(try outcome.json)
    #expect(json["schema"] as? Int == 1 && json["key"] as? String == key)
    let sentence = try #require(json["sentence"] as? String)
    let text = try scene.run("why", "c", key).text
    #expect(
      text.split(separator: "\n").dropFirst().joined(separator: " ").prefix(30)
        == sentence.prefix(30))
    let known = [
      "A read finds it, sound: 5 B, used", "there is no file of that name",
      "its content does not match its hash", "it expired 9",
      "what has the file's name is no regular file", "is of another key, 'abc'",
    ]
    let words = known.first { sentence.contains($0) } ?? sentence
    return [json["state"] as? String ?? "", words, "\(outcome.status)"]
  }

  @Test func `why calls nothing sound that carries no hash, and nothing damaged that has none`()
    throws
  {
    _ = try scene.shell(
      """
      mkdir -m 700 c; cd c; printf hand > 900150983cd24fb0d6963f7d28e17f72
      : > 8ce4b16b22b58894aa86c421e8759df3; touch -m -d '+1 day' *
      """)
    let byHand = try scene.run("why", "c", "abc")
    #expect(byHand.status == 0 && byHand.text.contains("it carries no hash"))
    #expect(!byHand.text.contains("sound:"))
    let empty = try scene.run("why", "c", "k")
    #expect(empty.status == 1 && empty.text.contains("the file is empty and carries no hash"))
  }

  @Test func `why names the other key whose file has the name`() throws {
    try scene.put("value", "abc")
    let other = "c/5d41402abc4b2a76b9719d911017c592"
    _ = try scene.shell("mv c/900150983cd24fb0d6963f7d28e17f72 \(other)")
    let hasAttributes = try scene.run("list", "c", "--json").text.contains("\"key\": \"abc\"")
    guard hasAttributes else { return }
    #expect(try state("hello") == ["otherKey", "is of another key, 'abc'", "1"])
  }

  @Test func `why says of what expires this moment that it expired just now`() throws {
    try scene.put("value", "abc", "--expires", "2h")
    let cache = try DiskCache(directory: scene.root.path + "/c")
    let entry = try #require(try cache.entries().first)
    let expiry = try #require(entry.expiry)
    let diagnosis = EntryDiagnosis(
      path: "c", name: entry.name, reason: .expired, entry: entry, now: expiry,
      ground: try Ground(of: cache))
    #expect(diagnosis.sentence.hasPrefix("A read finds nothing: it expired just now. It has 5 B,"))
    try cache.close()
  }

  @Test func `why gives 3 for another version, as its help says`() throws {
    #expect(Verb.why.notes.contains { $0.contains("3 when another version of the format") })
    try scene.put("value", "abc")
    let isSet = try setAttribute(of: "abc", to: "2 whatever")
    let outcome = try scene.run("why", "c", "abc")
    // Where there are no attributes, another version has none either.
    #expect(isSet ? outcome.status == 3 : outcome.text.contains("it carries no hash"))
  }

  /// Sets the attribute of a key's file. Returns false if the file system has no attributes.
  private func setAttribute(of key: CacheKey, to text: String) throws(Errno) -> Bool {
    let directory = try DirectoryHandle.open(path: scene.root.path + "/c", faults: nil)
    let name = EntryName(key).fileName
    do throws(Errno) {
      try directory.openForReading(name).setAttribute(.entry, to: Array(text.utf8))
      return true
    } catch .notSupported {
      return false
    }
  }

  @Test(arguments: ["a\\b", "\u{1f469}\u{200d}\u{1f52c}", "\u{e000}", "a\nb"])
  func `path names the file to a script, whatever the directory is called`(name: String) throws {
    try scene.put("value", "k", in: name)
    let outcome = try scene.run("path", name, "k")
    let path = try #require(outcome.text.hasSuffix("\n") ? String(outcome.text.dropLast()) : nil)
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try scene.runOnTerminal(["path", name, "k"]).lines.count == 1)
    #expect(try scene.runOnTerminal(["path", name, "k", "--plain"]).text == outcome.text)
  }

  @Test func `why breaks no line in a pipe, and says if what has expired is damaged`() throws {
    try scene.put("value", "abc", "--data", String(repeating: "x", count: 90))
    let why = try scene.run("why", "c", "abc").text
    #expect(why.split(separator: "\n")[1].hasSuffix("stored for 7 d."))
    try scene.write("v".utf8, to: "v")
    _ = try scene.run("record", "f", "k", "v", "--expires", "0")
    #expect(try !scene.run("why", "f", "k").text.contains("stored for"))
    _ = try scene.shell("f=$($larder path c abc); printf x >> $f; touch -m -d '-1 hour' $f")
    guard try scene.run("why", "c", "abc").text.contains("no hash") == false else { return }
    let outcome = try scene.run("why", "c", "abc", "--json")
    let sentence = try #require(try outcome.json?["sentence"] as? String)
    #expect(sentence.contains(" ago, and its content is damaged too. It has 6 B,"))
    #expect(try outcome.json?["state"] as? String == "expired")
  }

  @Test func `why changes nothing`() throws {
    try scene.put("value", "abc")
    let state = "stat -c '%n %x %y %z' c c/*"
    let before = try scene.shell(state).text
    _ = try scene.run("why", "c", "abc")
    #expect(try scene.shell(state).text == before)
  }

  @Test func `diff finds what is only in one, what changed and how`() throws {
    try scene.put("same", "a", "--expires", "never")
    try scene.put("left", "b", "--expires", "never")
    try scene.put("1234", "d", "--expires", "never")
    try scene.put("same", "a", "--expires", "never", in: "e")
    try scene.put("4321", "d", "--expires", "3d", in: "e")
    try scene.put("right", "f", in: "e")
    let outcome = try scene.run("diff", "c", "e", "--json")
    let json = try #require(try outcome.json)
    #expect(outcome.status == 1 && json["schema"] as? Int == 1 && json["same"] as? Int == 1)
    #expect((json["only_left"] as? [[String: Any]])?.map { $0["key"] as? String } == ["b"])
    #expect((json["only_right"] as? [[String: Any]])?.map { $0["key"] as? String } == ["f"])
    let changed = try #require(json["changed"] as? [[String: Any]])
    #expect(changed.map { $0["changes"] as? [String] } == [["content", "expiry", "lifetime"]])
    let text = try scene.run("diff", "c", "e").text
    #expect(text.contains("content, expiry, lifetime") && text.contains("only in DIR2"))
    #expect(text.hasSuffix("1 the same, 1 changed, 1 only in DIR, 1 only in DIR2\n"))
    #expect(try scene.run("diff", "c", "c").status == 0)
  }

  @Test func `diff judges both directories`() throws {
    try scene.put("v", "k")
    let missing = try scene.run("diff", "c", "d")
    #expect(missing.status == 3 && missing.talk.contains("'d' does not exist"))
    #expect(try scene.run("diff", "c").talk.contains("DIR2 is missing"))
    _ = try scene.run("record", "f", "k", input: Data("v".utf8))
    for line in [["diff", "f", "c"], ["diff", "c", "f"]] {
      let refused = try scene.run(line)
      #expect(refused.status == 2 && refused.talk.contains("'f' is a fixture"))
    }
  }
}
