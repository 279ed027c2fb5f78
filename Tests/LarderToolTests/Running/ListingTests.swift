import Foundation
import Testing

struct `Listing and counting` {
  let scene: Scene

  init() throws { scene = try Scene() }

  /// Stores three entries whose use, expiry, size, key and name are in five different orders.
  private func fill() throws {
    try scene.put("four", "a", "--expires", "3d")
    try scene.put("7 bytes", "b", "--expires", "never")
    try scene.put("x", "c", "--expires", "1d")
    // The MD5s begin with 0cc1, 92eb and 4a8a.
    _ = try scene.shell("touch -a -d '-1 hour' c/92*; touch -a -d '-2 hours' c/4a*")
  }

  private func keys(_ options: String...) throws -> [String?] {
    let json = try scene.run(["list", "c", "--json"] + options).json
    let entries = try #require(json?["entries"] as? [[String: Any]])
    return entries.map { $0["key"] as? String }
  }

  @Test func `the orders are those that were asked for`() throws {
    try fill()
    #expect(try keys() == ["c", "b", "a"])
    #expect(try keys("--sort", "used") == ["c", "b", "a"])
    #expect(try keys("--sort", "expiry") == ["c", "a", "b"])
    #expect(try keys("--sort", "size") == ["b", "a", "c"])
    #expect(try keys("--sort", "key") == ["a", "b", "c"])
    #expect(try keys("--sort", "name") == ["a", "c", "b"])
    #expect(try keys("-n", "2") == ["c", "b"])
    #expect(try keys("-n", "0") == [])
    #expect(try keys("--expired") == [])
    _ = try scene.shell("touch -m c/4a*")
    #expect(try keys("--expired") == ["c"])
  }

  @Test func `by value is the order of a trim that goes by it, with the uses that stamps have`()
    throws
  {
    for (key, byteCount) in [("a", 100), ("b", 1_000), ("c", 10_000), ("d", 10_000)] {
      try scene.put(String(repeating: "x", count: byteCount), key)
    }
    let names = try ["a", "b", "c", "d"].map { try scene.run("path", "c", $0).text.dropLast() }
    for (name, age) in zip(names, ["9 hours.000000002", "2 hours", "1 hours", "1 hours"]) {
      let hours = age.split(separator: ".")
      let digits = hours.count > 1 ? hours[1] : "000000777"
      _ = try scene.shell(
        "touch -a -d \"$(date -d '-\(hours[0])' '+%F %T').\(digits)\" '\(name)'")
    }
    // 10,000 bytes for an hour; 512 to 1,023 for two; 64 to 127 for nine, used twice.
    #expect(try keys("--sort", "value") == ["c", "d", "b", "a"])
    #expect(try keys("--sort", "used") == ["a", "b", "c", "d"])
    let plan = try scene.run(
      "trim", "c", "--to", "1K", "--order", "value", "--dry-run", "--names"
    ).text
    let ends = [2, 3, 1].map { String(names[$0].suffix(32)) }
    #expect(plan.split(separator: "\n").map(String.init) == ends)
    let report = try scene.run("report", "c", "--order", "value", "--quick").text
    #expect(report.contains(#""order":"least valuable""#))
    _ = try scene.run("trim", "c", "--to", "1K", "--order", "value")
    #expect(try keys() == ["a"])
  }

  @Test func `an entry says all that is known of it`() throws {
    try fill()
    _ = try scene.shell("touch -d '2030-01-02T03:04:05.000000006Z' c/0c*")
    let json = try scene.run("list", "c", "--json", "--sort", "name").json
    #expect(json?["schema"] as? Int == 1)
    let entries = try #require(json?["entries"] as? [[String: Any]])
    let entry = entries[0]
    #expect(entry["name"] as? String == "0cc175b9c0f1b6a831c399e269772661")
    #expect(entry["size"] as? Int == 4 && entry["lifetime"] as? Int == 259_200)
    #expect(entry["expires"] as? String == "2030-01-02T03:04:05.000000006Z")
    #expect(entry["expires_ns"] as? Int == 1_893_553_445_000_000_006)
    #expect(entry["last_access_ns"] as? Int == 1_893_553_445_000_000_006)
    #expect(entry["verified"] == nil && entry["allocated"] is Int)
    #expect(entries[2]["expires"] is NSNull && entries[2]["expires_ns"] is NSNull)
    #expect(entries[2]["lifetime"] as? String == "never")
  }

  @Test func `keys full of escapes command no terminal and come back from JSON`() throws {
    let key = "\u{1b}]0;owned\u{7}\r\n\u{202e}\u{2028}\u{9b}31m\\"
    try scene.put("v", key)
    let text = try scene.run("list", "c").text
    let isTame = text.unicodeScalars.allSatisfy { $0 == "\n" || (0x20..<0x7f).contains($0.value) }
    #expect(isTame && text.split(separator: "\n").count == 2)
    #expect(text.contains(#"\u{1b}]0;owned\u{7}\u{d}\u{a}\u{202e}\u{2028}\u{9b}31m\\"#))
    let json = try scene.run("list", "c", "--json")
    let isPrintable = json.output.allSatisfy { $0 == 10 || (0x20..<0x7f).contains($0) }
    #expect(isPrintable)
    #expect(try keys() == [key])
    let miss = try scene.run("rm", "c", key + "\u{1b}")
    #expect(miss.status == 1 && !miss.talk.contains("\u{1b}"))
  }

  @Test func `the header is always there, and unknown keys are told from empty ones`() throws {
    try scene.put("v", "")
    _ = try scene.shell("mkdir -m 700 e; printf v > c/900150983cd24fb0d6963f7d28e17f72")
    let lines = try scene.run("list", "c", "--sort", "name").text.split(separator: "\n")
    // The columns are wider if the listing is more than a moment after the store.
    let header = lines[0].split(separator: " ")
    #expect(header.prefix(4) == ["USED", "EXPIRES", "SIZE", "NAME"])
    #expect(lines[1].hasSuffix("(unknown)") && lines[2].hasSuffix("(empty)"))
    #expect(try scene.run("list", "e").text.hasPrefix("USED"))
    #expect(try scene.run("list", "e", "--json").json?["entries"] as? [Int] == [])
  }

  @Test func `names are whole lines without a header, in the order of the table`() throws {
    try fill()
    let names = try scene.run("list", "c", "--names", "--sort", "key", "--first", "2").text
    #expect(names == "0cc175b9c0f1b6a831c399e269772661\n92eb5ffee6ae2fec3ad71c777531578f\n")
    #expect(try scene.run("list", "c", "--names", "--json").json?["entries"] != nil)
  }

  @Test func `info counts entries, expired ones, foreign things and temporaries`() throws {
    try fill()
    _ = try scene.shell("touch -m c/4a*; mkdir c/x; ln -s x c/y; touch c/.larder-1-1")
    let json = try #require(try scene.run("info", "c", "--json").json)
    #expect(json["entries"] as? Int == 3 && json["bytes"] as? Int == 12)
    #expect(json["expired"] as? Int == 1 && json["foreign"] as? Int == 2)
    #expect(json["temporaries"] as? Int == 1 && json["damaged"] is NSNull)
    #expect(json["directory"] as? String == scene.root.path + "/c")
    #expect(json["next_expiry"] is String && json["allocated"] is Int)
    let text = try scene.run("info", "c").text
    #expect(text.contains("entries      3\n"))
    // 60 minutes, or more on a machine that is busy.
    #expect(
      text.contains(
        " min ago, of what a limit evicts next after the expired; whether a larger limit would "
          + "help, larder top DIR shows while the cache is in use\n"))
    #expect(text.contains("oldest use   6"))
    #expect(text.contains("bytes        12 (12 B)\n") && text.contains("next expiry  in 3 d\n"))
  }

  @Test func `info and why say what the directory is on`() throws {
    try fill()
    let info = try #require(try scene.run("info", "c", "--json").json)
    let name = try #require(info["file_system"] as? String)
    #expect(!name.isEmpty && info["network"] as? Bool == false)
    #expect(info["weaker_promises"] is [String: Any])
    #expect(try scene.run("info", "c").text.contains("file system  \(name)\n"))
    let why = try #require(try scene.run("why", "c", "a", "--json").json)
    #expect(why["file_system"] as? String == name && why["network"] as? Bool == false)
  }

  @Test func `info says that a copy has lost the no-atime flag`() throws {
    try fill()
    let copy = try scene.shell("cp -a c d; lsattr -d c d | awk '{ printf $1 ~ /A/ }'").text
    guard copy == "10" else { return }
    #expect(!(try scene.run("info", "c").text.contains("no-atime")))
    #expect(try scene.run("info", "d").text.contains("chattr -R +A DIR"))
    let promises = try scene.run("info", "d", "--json").json?["weaker_promises"]
    #expect((promises as? [String: String])?.keys.contains("access") == true)
  }

  @Test func `info of an empty cache has no times`() throws {
    _ = try scene.shell("mkdir -m 700 c")
    let json = try #require(try scene.run("info", "c", "--json").json)
    #expect(json["entries"] as? Int == 0)
    for name in ["oldest_access", "newest_access", "next_expiry"] { #expect(json[name] is NSNull) }
  }

  @Test func `what was not used since its store is told by the stamps`() throws {
    for key in ["a", "b", "c"] { try scene.put("value", key) }
    let births = try scene.shell("stat -c %W c/0c*").text
    // A use within a second of the store is none, so that these are dated an hour apart.
    _ = try scene.shell("touch -a -d '-1 hour' c/*; touch -a -d '+1 hour' c/92*")
    _ = try scene.run("get", "c", "a")
    guard births != "0\n", births != "-\n" else {
      #expect(try scene.run("list", "c", "--unused").talk.contains("does not tell the birth"))
      return
    }
    #expect(try Set(keys("--unused").compactMap(\.self)) == ["a", "c"])
    let removal = "$larder list c --unused --names | xargs -r $larder rm c --name"
    #expect(try scene.shell("\(removal) && \(removal)").status == 0)
    #expect(try keys() == ["b"])
    for key in ["a", "c"] { try scene.put("value", key) }
    _ = try scene.shell("touch -a -d '-1 hour' c/0c* c/4a*")
    #expect(try scene.run("info", "c", "--json").json?["unused"] as? Int == 2)
    #expect(try scene.run("info", "c").text.contains("unused       2, not used since the store\n"))
    let page = try scene.run("report", "c").text
    let flags = page.matches(of: /,(\d+),604800\]/).compactMap { Int($0.1) }
    #expect(flags.map { $0 & 256 }.sorted() == [0, 256, 256])
  }

  @Test func `info opens no entry`() throws {
    for key in ["a", "b"] { try scene.put("value", key) }
    // A file that cannot be opened, not even by root, would be one that has another system behind.
    let trace = try scene.shell(
      "command -v strace >/dev/null && strace -f -e trace=openat $larder info c 2>&1 >/dev/null")
    guard trace.status == 0 else { return }
    #expect(!trace.text.contains("0cc175b9c0f1b6a831c399e269772661"))
  }
}
