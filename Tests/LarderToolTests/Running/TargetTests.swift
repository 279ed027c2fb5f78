import Foundation
import Testing

/// MD5s: 0cc175b9c0f1b6a831c399e269772661 of a, 92eb5ffee6ae2fec3ad71c777531578f of b,
/// 900150983cd24fb0d6963f7d28e17f72 of abc.
struct `What list prints is taken back` {
  let scene: Scene

  init() throws {
    scene = try Scene()
    for key in ["a", "b", "abc"] { try scene.put("value of \(key)", key) }
  }

  @Test(arguments: [
    ["a"], ["0cc175b9c0f1b6a831c399e269772661"], ["0cc175b9\u{2026}"],
    ["0cc17", "--name"], ["0cc175b9c0f1b6a831c399e269772661", "--name"],
  ])
  func `a key, a name and a beginning of one are the same`(arguments: [String]) throws {
    #expect(try scene.run(["get", "c"] + arguments).text == "value of a")
    let path = try scene.run(["path", "c"] + arguments).text
    #expect(path.hasSuffix("/c/0cc175b9c0f1b6a831c399e269772661\n"))
    let why = try #require(try scene.run(["why", "c"] + arguments + ["--json"]).json)
    #expect(why["found"] as? Bool == true && why["key"] as? String == "a")
    // What removes takes a key, unless it is told that it is a name.
    let isKey = arguments == ["a"]
    let option = isKey || arguments.contains("--name") ? [] : ["--name"]
    #expect(try scene.run(["rm", "c"] + arguments + option).status == 0)
    #expect(try scene.run("get", "c", "a").status == 1)
    #expect(try scene.names(in: "c").count == 2)
  }

  @Test(arguments: [
    "0cc175b9c0f1b6a831c399e269772661", "0cc175b9", "c/0cc175b9c0f1b6a831c399e269772661",
  ])
  func `rm takes a key that is like a name for a key`(key: String) throws {
    let miss = try scene.run("rm", "c", key)
    #expect(miss.status == 1 && miss.talk.contains("the name of an entry begins with it (--name)"))
    #expect(try scene.names(in: "c").count == 3)
    try put("of the key", underKeyLikeName: key)
    #expect(try scene.run("rm", "c", key).status == 0)
    #expect(try scene.run("get", "c", "a").text == "value of a")
    #expect(try scene.run("rm", "c", key, "--name").status == 0)
    #expect(try scene.run("get", "c", "a").status == 1)
  }

  @Test func `rm --name goes on after a beginning that no name has`() throws {
    let some = try scene.run("rm", "c", "0cc1", "ffff", "92eb", "--name", "--json")
    #expect(some.status == 1 && some.talk.contains("no name in DIR begins with 'ffff'"))
    let json = try #require(try some.json)
    #expect(json["removed"] as? Int == 2 && json["missing"] as? Int == 1)
    #expect(try scene.names(in: "c") == ["900150983cd24fb0d6963f7d28e17f72"])
  }

  @Test func `the beginning of a name is a key unless --name is given`() throws {
    #expect(try scene.run("get", "c", "0cc175b").status == 1)
    #expect(try scene.run("rm", "c", "0cc175b").status == 1)
    #expect(try scene.run("path", "c", "0cc175b").text.contains("0cc175b9c0") == false)
    #expect(try scene.run("get", "c", "0cc175b", "--name").text == "value of a")
  }

  @Test func `a key that has a value wins over a name`() throws {
    try put("of the key", underKeyLikeName: "0cc175b9")
    #expect(try scene.run("get", "c", "0cc175b9").text == "of the key")
    #expect(try scene.run("get", "c", "0cc175b9", "--name").text == "value of a")
  }

  @Test func `a beginning of two names is refused, and one of none is a miss`() throws {
    let two = try scene.run("rm", "c", "9", "--name")
    #expect(two.status == 2 && two.talk.contains("2 names begin with '9': 900150983cd24fb0"))
    #expect(try scene.names(in: "c").count == 3)
    for argument in ["ffff", "no digits", ""] {
      let none = try scene.run("get", "c", argument, "--name")
      #expect(none.status == 1 && none.talk.contains("no name in DIR begins with"))
    }
    #expect(try scene.run("get", "c", "a", "--name", "--ext", "x").status == 2)
  }

  @Test func `a file that does not tell its key is read by its name`() throws {
    let name = "900150983cd24fb0d6963f7d28e17f73"
    _ = try scene.shell("printf hand > c/\(name); touch -m -d '+1 day' c/\(name)")
    #expect(try scene.run("get", "c", name).text == "hand")
    #expect(try scene.run("why", "c", name).status == 0)
    _ = try scene.shell("touch -m c/\(name)")
    let expired = try scene.run("get", "c", name)
    #expect(expired.status == 1 && expired.talk.contains("it has expired"))
    #expect(try scene.run("get", "c", name, "--expired").text == "hand")
    // A value with a hash is checked by its name too.
    _ = try scene.shell("cp -p --preserve=xattr c/9001*72 c/\(name); printf x >> c/\(name)")
    _ = try scene.shell("touch -m -d '+1 day' c/\(name)")
    let hasHash = try scene.run("why", "c", name).text.contains("no hash") == false
    if hasHash { #expect(try scene.run("get", "c", name).status == 1) }
  }

  @Test func `a key of digits that has no value is no beginning of a name`() throws {
    let outcome = try scene.run("get", "c", "0cc175b9")
    #expect(outcome.status == 1 && outcome.text.isEmpty && outcome.talk.contains("(--name)"))
    #expect(try scene.run("put", "c", "0cc175b9", input: Data("own".utf8)).status == 0)
    #expect(try scene.run("get", "c", "0cc175b9").text == "own")
  }

  @Test func `a name that is gone is not taken for that of a file with an extension`() throws {
    try scene.put("value of x", "x", "--ext", "png")
    let outcome = try scene.run("rm", "c", "9dd4e461268c8034f5c8564e155c67a6", "--name")
    #expect(outcome.status == 1)
    #expect(try scene.names(in: "c").count == 4)
  }

  @Test func `stamp takes the beginning of a name`() throws {
    _ = try scene.shell("printf edited > c/0cc175b9c0f1b6a831c399e269772661")
    #expect(try scene.run("stamp", "c", "0cc1").text == "stamped 1 entry\n")
    #expect(try scene.run("get", "c", "a").text == "edited")
    #expect(try scene.run("stamp", "c", "9").status == 2)
    #expect(try scene.run("stamp", "c", "0dd1").status == 2)
  }

  @Test func `the digits of a name that has an extension lead to it, as fewer do`() throws {
    try scene.put("value of x", "x", "--ext", "png")
    let digits = "9dd4e461268c8034f5c8564e155c67a6"
    for start in [digits, "\(digits).p\u{2026}", "c/\(digits)", String(digits.dropLast())] {
      #expect(try scene.run("get", "c", start, "--name").text == "value of x")
      #expect(try scene.run("path", "c", start, "--name").text.hasSuffix("/c/\(digits).png\n"))
      #expect(try scene.run("stamp", "c", start).text == "stamped 1 entry\n")
    }
    let absent = "0123456789abcdef0123456789abcdef"
    #expect(try scene.run("path", "c", absent, "--name").text.hasSuffix("/c/\(absent)\n"))
    #expect(try scene.run("stamp", "c", absent).talk.contains("\(absent) is not there"))
  }

  @Test func `get --expired writes what has expired, and damage stays a miss`() throws {
    _ = try scene.shell("touch -m c/0cc1*")
    #expect(try scene.run("get", "c", "a").status == 1)
    let outcome = try scene.run("get", "c", "a", "--expired")
    #expect(outcome.status == 0 && outcome.text == "value of a")
    _ = try scene.shell("f=$(echo c/0cc1*); printf x >> $f; touch -m -d '-1 hour' $f")
    #expect(try scene.run("get", "c", "a", "--expired").status == 1)
  }

  @Test func `a joined key can be written, and a miss counts the variants`() throws {
    try scene.put("small", "u", "--variant", "thumb")
    try scene.put("2x", "u", "--variant", "thumb", "--variant", "2x")
    _ = try scene.shell("printf 'u\\377thumb' > key")
    #expect(try scene.run("get", "c", "--key-file", "key").text == "small")
    #expect(try scene.run("get", "c", "u", "--variant", "thumb").text == "small")
    #expect(try scene.run("get", "c", "u", "--variant=thumb", "--variant=2x").text == "2x")
    let why = try scene.run("why", "c", "u", "--json")
    #expect(why.status == 1)
    let hasKeys = try scene.run("list", "c", "--json").text.contains("key_base64")
    guard hasKeys else { return }
    let sentence = try #require(try why.json?["sentence"] as? String)
    #expect(sentence.contains("2 variants of 'u' exist"))
    for verb in ["get", "rm"] {
      let miss = try scene.runOnTerminal([verb, "c", "u"])
      #expect(miss.text.contains("has none; 2 variants of 'u' exist (--variant=thumb)"))
      #expect(try scene.run(verb, "c", "u").talk.contains("2 variants of 'u' exist"))
    }
    // For many keys, each look at all files would take long.
    let many = try scene.runOnTerminal(["rm", "c", "u", "v"])
    let lines = ["u", "v"].map { "larder: no value: the key '\($0)' has none" }
    #expect(many.lines == lines)
    #expect(try scene.run("rm", "c", "u", "--variant", "thumb").status == 0)
    #expect(
      try scene.run("why", "c", "u").text.replacing("\n", with: " ")
        .contains("1 variant of 'u' exists (--variant=thumb)"))
    let sibling = try scene.run("why", "c", "u", "--variant", "thump").text
    #expect(
      sibling.replacing("\n", with: " ").contains("1 variant of 'u' exists (--variant=thumb)"))
  }

  @Test func `what list shows of a joined key leads to --variant`() throws {
    try scene.put("small", "u", "--variant", "a b")
    let pasted = #"u\xffa b"#
    for verb in ["get", "rm", "why"] {
      let miss = try scene.run(verb, "c", pasted)
      let words = "joined key is given as u --variant='a b'"
      #expect(miss.status == 1 && (miss.talk + miss.text).contains(words), "\(verb)")
    }
    #expect(try scene.run("get", "c", "u", "--variant", "a b").text == "small")
    // Words that are like options.
    _ = try scene.shell("printf x | $larder put c --variant=-o -- -x")
    let dashed = try scene.run("get", "c", "--", #"-x\xff-o"#)
    #expect(dashed.talk.contains("joined key is given as --variant=-o -- -x\n"))
    #expect(try scene.run("get", "c", "--variant=-o", "--", "-x").text == "x")
  }

  @Test func `rm --variants removes a key and what is joined of it`() throws {
    try scene.put("1", "u")
    try scene.put("22", "u", "--variant", "a b")
    try scene.put("333", "u", "--variant", "x", "--variant", "y")
    try scene.put("4444", "v", "--variant", "x")
    // Where files have no attributes, nothing tells the variants.
    guard try scene.run("list", "c", "--json").text.contains("key_base64") else { return }
    let outcome = try scene.run("rm", "c", "u", "--variants")
    #expect(outcome.status == 0 && outcome.text == "removed 3 entries, 6 B\n")
    #expect(try scene.names(in: "c").count == 4)
    let again = try scene.run("rm", "c", "u", "v", "--variants", "--json")
    #expect(again.status == 1 && again.talk.contains("the key 'u' has none"))
    let json = try #require(try again.json)
    #expect(json["removed"] as? Int == 1 && json["missing"] as? Int == 1)
    #expect(try scene.names(in: "c").count == 3)
    #expect(try scene.run("rm", "c", "0cc1", "--variants", "--name").status == 2)
  }

  @Test func `rm --variants says how many entries may be variants and stay`() throws {
    try scene.put("1", "u")
    for count in 1...2 {
      // As a copy without attributes.
      _ = try scene.shell("printf v > c/\(count)0000000000000000000000000000000")
      let unknown = try scene.run("list", "c", "--json").json?["unknown_keys"] as? Int
      let outcome = try scene.run("rm", "c", "a", "--variants", "--json")
      #expect(try outcome.json?["unknown_keys"] as? Int == unknown)
      guard unknown == count else { return }
      let verb = count == 1 ? "y without a recorded key stays" : "ies without a recorded key stay"
      #expect(outcome.talk.contains("\(count) entr\(verb), variant or not\n"))
    }
    let alone = try scene.run("rm", "c", "u", "--json")
    let json = try alone.json
    #expect(alone.talk.isEmpty && json?["removed"] as? Int == 1 && json?["unknown_keys"] == nil)
  }

  @Test func `put takes no name of an entry for a key`() throws {
    let name = "0cc175b9c0f1b6a831c399e269772661"
    for place in [name, "0cc175b9\u{2026}", "c/\(name)"] {
      let outcome = try scene.run("put", "c", place, input: Data("lost".utf8))
      #expect(outcome.status == 2 && outcome.talk.contains("give its key, which is a, or write"))
    }
    #expect(try scene.names(in: "c").count == 3)
    #expect(try scene.run("get", "c", "a").text == "value of a")
    _ = try scene.shell("printf new > v; printf a | $larder put c --key-file - v")
    #expect(try scene.run("get", "c", "a").text == "new")
  }

  private func put(_ value: String, underKeyLikeName key: String) throws {
    let line = "printf '\(key)' > key; printf '\(value)' | $larder put c --key-file key"
    #expect(try scene.shell(line).status == 0)
  }

  @Test func `a path into the directory stands for its name`() throws {
    let name = "0cc175b9c0f1b6a831c399e269772661"
    let path = try String(scene.run("path", "c", "a").text.dropLast())
    for argument in [path, "c/\(name)", "./c/\(name)", "c/../c//\(name)"] {
      #expect(try scene.run("get", "c", argument).text == "value of a")
      #expect(try scene.run("get", "c", argument, "--name").text == "value of a")
      #expect(try scene.run("stamp", "c", argument).text == "stamped 1 entry\n")
      #expect(try scene.run("stamp", "c/", argument).text == "stamped 1 entry\n")
    }
    // Of another directory, and of no name.
    #expect(try scene.run("get", "c", "d/\(name)").status == 1)
    #expect(try scene.run("stamp", "c", "d/\(name)").status == 2)
    #expect(try scene.run("get", "c", "c/readme", "--name").status == 1)
    try put("of the key", underKeyLikeName: "c/\(name)")
    #expect(try scene.run("get", "c", "c/\(name)").text == "of the key")
  }

  @Test func `4 to 7 digits of a name lead to --name`() throws {
    let hint = "the name of an entry begins with it (--name)"
    #expect(try scene.run("rm", "c", "0cc1").talk.contains(hint))
    #expect(try scene.run("get", "c", "0cc175b").talk.contains(hint))
    for key in ["0cc", "0dd1", "zzzz"] {
      #expect(try scene.run("rm", "c", key).talk.contains("--name") == false)
    }
  }

  @Test func `a dry run lists the names in the order of removal, which rm takes`() throws {
    _ = try scene.shell("touch -a -d '-2 hours' c/92eb*; touch -a -d '-1 hour' c/9001*")
    let names = [
      "92eb5ffee6ae2fec3ad71c777531578f", "900150983cd24fb0d6963f7d28e17f72",
    ]
    let dry = try scene.run("trim", "c", "--count", "1", "--dry-run", "--names")
    #expect(dry.text == names.map { $0 + "\n" }.joined())
    #expect(dry.talk == "would remove 2 entries, 22 B\n")
    let json = try scene.run("trim", "c", "--count", "1", "--dry-run", "--names", "--json").json
    #expect(json?["names"] as? [String] == names && json?["removed"] as? Int == 2)
    #expect(try scene.run("trim", "c", "--count", "1", "--dry-run", "--json").json?["names"] == nil)
    #expect(try scene.run("trim", "c", "--count", "1", "--names").status == 2)
    #expect(try scene.run("expire", "c", "--dry-run", "--names").text.isEmpty)
    let all = "$larder clear c --dry-run --names | xargs $larder rm c --name"
    #expect(try scene.shell(all).status == 0)
    #expect(try scene.names(in: "c").isEmpty)
  }

  @Test func `ls is list`() throws {
    let list = try scene.run("list", "c", "--json")
    #expect(try scene.run("ls", "c", "--json").text == list.text)
    let help = try scene.run("ls", "--help").text
    #expect(help.hasPrefix("larder list: Show the entries (also: larder ls)"))
  }
}
