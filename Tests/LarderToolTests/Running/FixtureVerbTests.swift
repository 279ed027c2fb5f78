import Foundation
import LarderTestSupport
import Testing

struct `Recording and packing fixtures` {
  let scene: Scene

  init() throws {
    scene = try Scene()
  }

  @Test func `record writes the value, its line and what git has to know`() throws {
    let outcome = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    #expect(outcome.status == 0 && outcome.text.isEmpty && outcome.talk.isEmpty)
    #expect(
      try scene.names(in: "f") == [
        ".gitattributes", "900150983cd24fb0d6963f7d28e17f72", "manifest",
      ])
    let line = String(decoding: try scene.read("f/manifest"), as: UTF8.self)
    #expect(
      line == #"900150983cd24fb0d6963f7d28e17f72 "abc" expires=2027-01-22T08:00:00Z"#
        + " used=2027-01-15T08:00:00Z lifetime=604800 hash=26c7827d889f6da3\n")
  }

  @Test func `record takes pairs of key and file, all or none`() throws {
    try scene.write("1".utf8, to: "one")
    try scene.write("2".utf8, to: "two")
    let recorded = try scene.run(
      "record", "f", "a", "one", "b", "two", "--expires", "never", "--json")
    #expect(recorded.status == 0)
    #expect(try recorded.json?["recorded"] as? Int == 2)
    #expect(try scene.run("record", "f", "a", "one", "b").status == 2)
    let missing = try scene.run("record", "g", "a", "one", "b", "missing")
    #expect(missing.status == 4 && missing.talk.contains("missing"))
    #expect(!FileManager.default.fileExists(atPath: scene.root.path + "/g"))
  }

  @Test func `pack and unpack carry a cache through a fixture`() throws {
    try scene.put("value", "abc", "--expires", "2h")
    try scene.put("other", "k")
    #expect(try scene.run("fixture", "pack", "c", "f").text == "packed 2 entries\n")
    #expect(
      try scene.run("fixture", "check", "f").text
        == "checked 2 entries: all as the manifest says\n")
    let unpacked = try scene.run("fixture", "unpack", "f", "d", "--json")
    #expect(try unpacked.json?["entries"] as? Int == 2)
    #expect(try scene.run("get", "d", "abc").text == "value")
    let lists = try ["c", "d"].map { try scene.run("list", $0, "--sort", "name", "--json").text }
    #expect(lists[0] == lists[1])
  }

  @Test func `list shows a fixture by the keys and the clock of its manifest`() throws {
    try scene.put("value", "https://example.org/größe", "--expires", "2h")
    try scene.put("other", "k", "--expires", "never")
    _ = try scene.run("fixture", "pack", "c", "f")
    let before = try scene.run("list", "c", "--sort", "name", "--json").json
    // As git checks it out: other stamps, no attributes.
    _ = try scene.shell(
      "mkdir g && for x in f/*; do cat $x > g/${x#f/}; done; touch -d 2031-01-01 g/*")
    let after = try scene.run("list", "g", "--sort", "name", "--json").json
    let members = ["name", "key", "expires", "last_access", "lifetime", "size"]
    let (old, new) = (before?["entries"] as? [[String: Any]], after?["entries"] as? [[String: Any]])
    #expect(new?.count == 2)
    for (old, new) in zip(old ?? [], new ?? []) {
      for member in members { #expect("\(old[member] ?? "")" == "\(new[member] ?? "")") }
    }
    let uses = new?.compactMap { $0["last_access"] as? String }.max()
    #expect(after?["clock"] as? String == uses && before?["clock"] == nil)
    #expect(try scene.run("list", "g", "--expired").text.contains("größe") == false)
    #expect(try scene.run("list", "g").text.contains("größe"))
    // A file of that name by another program does not make a fixture.
    try scene.write("{}\n".utf8, to: "c/manifest")
    #expect(try scene.run("list", "c", "--json").json?["clock"] == nil)
  }

  @Test func `check says what is wrong and what to do, with status 1`() throws {
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    _ = try scene.shell("printf x >> f/900150983cd24fb0d6963f7d28e17f72; rm f/.gitattributes")
    let outcome = try scene.run("fixture", "check", "f")
    #expect(outcome.status == 1 && outcome.text.hasSuffix("checked 1 entry: 2 to look at\n"))
    #expect(outcome.text.contains("changed     900150983cd24fb0d6963f7d28e17f72\n"))
    #expect(outcome.talk.contains("pack DIR"))
    let json = try scene.run("fixture", "check", "f", "--json")
    #expect(json.status == 1)
    #expect(try (json.json?["findings"] as? [[String: String]])?.first?["finding"] == "unprotected")
    #expect(try scene.run("fixture", "pack", "f").status == 0)
    #expect(try scene.run("fixture", "check", "f").status == 0)
  }

  @Test func `check goes without the attributes above a name that is not UTF-8`() throws {
    let line = #"d=$(printf 'a\377'); mkdir "$d"; cd "$d"; echo v > v; $larder record f k v; "#
    let outcome = try scene.shell(line + "$larder fixture check f")
    #expect(outcome.status == 0 && outcome.text == "checked 1 entry: all as the manifest says\n")
  }

  @Test func `check takes values as meant that have expired, if it is told to`() throws {
    try scene.put("value", "abc", "--expires", "2h")
    try scene.put("other", "k")
    _ = try scene.shell("touch -a -d '-3 hours' c/900150983cd24fb0d6963f7d28e17f72")
    _ = try scene.shell("touch -m -d '-2 hours' c/900150983cd24fb0d6963f7d28e17f72")
    #expect(try scene.run("fixture", "pack", "c", "f").status == 0)
    let outcome = try scene.run("fixture", "check", "f")
    #expect(outcome.status == 1 && outcome.talk.contains("--allow-expired"))
    #expect(try scene.run("fixture", "check", "f", "--allow-expired").status == 0)
    #expect(try scene.run("fixture", "pack", "f", "--allow-expired").status == 2)
  }

  @Test func `pack leaves out what a read refuses, and says so with status 1`() throws {
    try scene.put("sound", "k")
    try scene.put("right", "abc")
    let name = "900150983cd24fb0d6963f7d28e17f72"
    _ = try scene.shell("printf X >> c/\(name); touch -m -d '+7 days' c/\(name)")
    let outcome = try scene.run("fixture", "pack", "c", "f")
    #expect(outcome.status == 1 && outcome.text == "packed 1 entry\n")
    #expect(outcome.talk.contains("\(name) is left out: the file is damaged"))
    #expect(try !scene.names(in: "f").contains(name))
    let json = try scene.run("fixture", "pack", "c", "f", "--json")
    let refused = try json.json?["refused"] as? [[String: String]]
    #expect(json.status == 1 && refused == [["name": name, "reason": "damaged"]])
  }

  @Test func `a directory that is missing or holds other things stays as it is`() throws {
    _ = try scene.shell("mkdir repo; echo x > repo/main.c")
    try scene.put("v", "k")
    try scene.write("v".utf8, to: "v")
    for line in [
      ["fixture", "pack", "typo"], ["fixture", "pack", "typo", "f"], ["fixture", "unpack", "typo"],
      ["fixture", "unpack", "typo", "d"], ["fixture", "check", "typo"],
      ["fixture", "pack", "repo"],
      ["fixture", "pack", "c", "repo"], ["fixture", "unpack", "c", "repo"],
      ["fixture", "check", "repo"], ["record", "repo", "k", "v"],
    ] {
      let outcome = try scene.run(line)
      #expect(outcome.status == 3 && outcome.text.isEmpty, "\(line)")
      let isMissing = line.contains("typo")
      #expect(outcome.talk.contains(isMissing ? "larder record would make it" : "only other"))
    }
    #expect(try scene.names(in: ".") == ["c", "repo", "v"])
    #expect(try scene.names(in: "repo") == ["main.c"])
    #expect(try scene.run("record", "repo", "k", "v", "--adopt").status == 0)
    #expect(try scene.run("record", "repo", "other", "v").status == 0)
    _ = try scene.shell("mkdir new; touch new/.gitkeep new/.gitattributes")
    #expect(try scene.run("record", "new", "k", "v").status == 0)
  }

  @Test func `a cache that is no fixture is written to as one only with --adopt`() throws {
    try scene.put("live", "abc")
    try scene.put("other", "abc", in: "d")
    try scene.write("v".utf8, to: "v")
    _ = try scene.run("record", "f", "abc", input: Data("recorded".utf8))
    let state = "stat -c '%n %i %y %z' c c/*; ls -A c"
    let before = try scene.shell(state).text
    let lines = [
      ["record", "c", "k", "v"], ["fixture", "pack", "c"], ["fixture", "pack", "d", "c"],
      ["fixture", "unpack", "c"], ["fixture", "unpack", "f", "c"],
    ]
    for line in lines {
      let outcome = try scene.run(line)
      #expect(outcome.status == 3 && outcome.talk.contains("--adopt takes it"), "\(line)")
    }
    #expect(try scene.shell(state).text == before)
    #expect(try scene.run("fixture", "unpack", "f", "c", "--adopt").status == 0)
    #expect(try scene.run("get", "c", "abc").text == "recorded")
    #expect(try scene.run("record", "c", "k", "v", "--adopt").status == 0)
    // Now it has a manifest: all but unpack go on.
    for line in lines.dropLast() { #expect(try scene.run(line).status == 0, "\(line)") }
    let other = try scene.run(["fixture", "unpack", "f", "c"])
    #expect(other.status == 3 && other.talk.contains("is a fixture"))
  }

  @Test func `an action that is none, or one too many directories, is a mistake`() throws {
    for line in [["burn", "f"], ["check", "f", "g"], ["check"], []] {
      #expect(try scene.run(["fixture"] + line).status == 2, "\(line)")
    }
    #expect(try scene.run("fixture", "check", "missing").status == 3)
  }

  @Test func `every verb that looks sees a checkout at the fixture's time`() throws {
    try scene.put("value", "abc", "--expires", "2h", "--data", "beside")
    try scene.put("other", "k", "--expires", "1d")
    _ = try scene.run("fixture", "pack", "c", "f")
    // As git checks it out: other stamps, no attributes.
    _ = try scene.shell(
      "mkdir g && for x in f/* f/.g*; do cat $x > g/${x#f/}; done; touch -d 2020-01-01 g/*")
    let before = try scene.shell("stat -c '%n %x %y %z' g/*").text
    #expect(try scene.run("get", "g", "abc").text == "value")
    #expect(try scene.run("get", "g", "abc", "--data-only").text == "beside")
    let why = try #require(try scene.run("why", "g", "abc", "--json").json)
    #expect(why["found"] as? Bool == true && why["state"] as? String == "fresh")
    #expect((why["path"] as? String)?.hasPrefix(scene.root.path + "/g/") == true)
    let info = try #require(try scene.run("info", "g", "--json").json)
    #expect(info["entries"] as? Int == 2 && info["expired"] as? Int == 0)
    #expect(info["directory"] as? String == scene.root.path + "/g" && info["unused"] is NSNull)
    #expect(info["clock"] is String && why["clock"] as? String == info["clock"] as? String)
    let report = try scene.run("report", "g", "-o", "page.html", "--json").json
    #expect(report?["expired"] as? Int == 0 && report?["foreign"] as? Int == 0)
    #expect(report?["directory"] as? String == scene.root.path + "/g")
    #expect(try String(decoding: scene.read("page.html"), as: UTF8.self).contains("\"abc\""))
    #expect(try scene.run("list", "g", "--unused").status == 2)
    let verified = try scene.run("verify", "g")
    #expect(verified.text.contains("2 more carry no hash"))
    #expect(verified.talk.contains("larder fixture check"))
    #expect(try scene.run("top", "g").text.contains("expired") == false)
    #expect(try scene.shell("stat -c '%n %x %y %z' g/*").text == before)
    let copies = try scene.names(in: ".").filter { $0.hasPrefix("larder-fixture") }
    #expect(copies.isEmpty)
  }

  @Test(.watched) func `a signal while a value is written leaves no copy of the fixture`() throws {
    try scene.write([UInt8](repeating: 65, count: 1 << 20), to: "big")
    _ = try scene.run("record", "f", "abc", "big")
    let outcome = try scene.shell(
      """
      mkdir tmp; mkfifo pipe; TMPDIR=$PWD/tmp $larder get f abc > pipe & getter=$!
      exec 3< pipe; dd bs=1 count=1 <&3 2>/dev/null
      ls tmp | wc -l; kill -TERM $getter; wait $getter; echo $?; ls -A tmp
      """)
    #expect(outcome.text == "A1\n143\n")
  }

  @Test func `a fixture whose last entry was removed is still one`() throws {
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    #expect(try scene.run("rm", "f", "abc").status == 0)
    _ = try scene.shell("rm -f f/CACHEDIR.TAG")
    for verb in ["get", "rm"] {
      let miss = try scene.run(verb, "f", "abc")
      #expect(miss.status == 1 && miss.talk.contains("no value: the key"), "\(verb)")
    }
    #expect(try scene.run("list", "f").status == 0)
  }

  @Test func `a recording that finds no room leaves the one before as it was`() throws {
    _ = try scene.run("record", "f", "abc", "--data", "etag", input: Data("hello".utf8))
    let before = try scene.shell("cat f/manifest f/900*").text
    try scene.write([UInt8](repeating: 65, count: 20_000), to: "big")
    #expect(try scene.shell("ulimit -f 8; $larder record f abc big").status != 0)
    #expect(try scene.shell("cat f/manifest f/900*").text == before)
    #expect(try scene.run("fixture", "check", "f").status == 0)
  }

  @Test func `a fixture is not blamed for a temporary directory that is missing`() throws {
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    let outcome = try scene.shell("TMPDIR=/nowhere $larder list f")
    #expect(outcome.status == 4 && outcome.talk.contains("/nowhere"))
  }

  @Test func `pack keeps lines that tell of one content, and says so with status 1`() throws {
    let name = "900150983cd24fb0d6963f7d28e17f72"
    for data in ["a", "b"] {
      _ = try scene.run("record", "f", "abc", "--data", data, input: Data("hello".utf8))
      _ = try scene.shell("cat f/manifest >> lines")
    }
    _ = try scene.shell("cp lines f/manifest")
    let outcome = try scene.run("fixture", "pack", "f")
    #expect(outcome.status == 1 && outcome.text == "packed 0 entries\n")
    #expect(outcome.talk.contains("\(name) is left out: several lines") == true)
    #expect(outcome.talk.contains("record it again"))
    let json = try scene.run("fixture", "pack", "f", "--json")
    let refused = try json.json?["refused"] as? [[String: String]]
    #expect(json.status == 1 && refused == [["name": name, "reason": "doubled"]])
    let check = try scene.run("fixture", "check", "f")
    #expect(check.status == 1 && check.text.contains("doubled     \(name)\n"))
  }

  @Test func `pack says how many values have expired when the clock begins`() throws {
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    _ = try scene.run("record", "f", "kept by none", input: Data("v".utf8))
    _ = try scene.shell("sed -i '/none/{s/01-22/01-15/;s/=604800/=fixed/}' f/manifest")
    #expect(try scene.run("fixture", "pack", "f").talk.isEmpty)
    try scene.put("value", "k")
    _ = try scene.shell("touch -a -d 2020-01-01 c/*; touch -m -d 2020-01-02 c/*")
    let outcome = try scene.run("fixture", "pack", "c", "f")
    #expect(outcome.status == 0 && outcome.text == "packed 1 entry\n")
    #expect(outcome.talk.contains("1 value has expired when the clock begins"))
    #expect(outcome.talk.contains("larder fixture check"))
    #expect(try scene.run("fixture", "check", "f").text.contains("expired  "))
  }

  @Test func `record takes no value that no read of the fixture takes`() throws {
    _ = try scene.shell("truncate -s $(((1 << 30) + 1)) long; echo v > v")
    for line in [["a", "long"], ["a", "v", "b", "long"]] {
      let outcome = try scene.run(["record", "f"] + line)
      #expect(outcome.status == 2 && outcome.talk.contains("longer than 1 GiB"))
      #expect(!FileManager.default.fileExists(atPath: scene.root.path + "/f"))
    }
  }

  @Test func `what a read of a fixture refuses is said with its reason`() throws {
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    _ = try scene.run("record", "f", "k", input: Data("kept".utf8))
    // Two lines of a name, and a content of neither, as a merge can leave them.
    _ = try scene.shell(
      """
      grep abc f/manifest | sed 's/hash=./hash=0/' > line; cat line >> f/manifest
      printf x >> f/900150983cd24fb0d6963f7d28e17f72
      """)
    let list = try scene.run("list", "f")
    #expect(list.status == 0 && list.text.contains("k\n"))
    let reason = "its content fits no line of the manifest; larder fixture check says more"
    #expect(list.talk == "larder: 900150983cd24fb0d6963f7d28e17f72 is left out: \(reason)\n")
    let why = try scene.run("why", "f", "abc", "--json").json
    #expect(why?["state"] as? String == "damaged")
    #expect(why?["sentence"] as? String == "A read finds nothing: \(reason).")
    #expect(try scene.run("get", "f", "abc").talk == "larder: no value: \(reason)\n")
  }
}
