import Foundation
import Larder
import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

struct `The report` {
  let scene: Scene

  init() throws { scene = try Scene() }

  /// Returns the object in the page.
  private func data(_ page: String) throws -> [String: Any] {
    let start = try #require(page.range(of: "<script type=\"application/json\" id=\"data\">"))
    let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
    let text = page[start.upperBound..<end.lowerBound]
    return try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func `it holds every entry, what is wrong and what would go, for its owner alone`() throws {
    try scene.put("0123456789", "old", "--expires", "never")
    try scene.put("0123456789", "new", "--expires", "never")
    try scene.put("0123456789", "gone")
    try scene.put("0123456789", "hurt", "--expires", "never")
    _ = try scene.shell(
      """
      touch -a -d '-1 hour' "$($larder path c old)"; touch -m "$($larder path c gone)"
      f="$($larder path c hurt)"; printf x >> $f; touch -m -d @8589934592 $f; mkdir c/'<b>'
      umask 000; echo mine > r.html; chmod 644 r.html
      """)
    let outcome = try scene.run("report", "c", "-o", "r.html", "--limit", "50", "--json")
    let json = try #require(try outcome.json)
    #expect(outcome.status == 0 && json["schema"] as? Int == 1 && json["entries"] as? Int == 4)
    #expect(json["damaged"] as? Int == 1 && json["foreign"] as? Int == 1)
    #expect(json["checked"] as? Int == 4 && json["unreadable"] as? Int == 0)
    #expect(outcome.talk == "larder: 1 entry is damaged; larder verify DIR names it\n")
    #expect(json["directory"] as? String == scene.root.path + "/c")
    #expect(json["page"] as? String == "r.html" && json["path"] == nil)
    let eviction = try #require(json["eviction"] as? [String: Int])
    #expect(eviction == ["target": 25, "entries": 2, "bytes": 20])
    #expect(try scene.shell("stat -c %a r.html").text == "600\n")
    let data = try data(String(decoding: try scene.read("r.html"), as: UTF8.self))
    let rows = try #require(data["entries"] as? [[Any]])
    // Without the one that goes by the births of files, which not every file system keeps.
    let flags = rows.reduce(into: [:]) {
      $0[$1[1] as? String ?? ""] = ($1[6] as? Int).map { $0 & 255 }
    }
    #expect(flags == ["old": 4, "new": 0, "gone": 2, "hurt": 1])
    #expect((data["foreign"] as? [[String]]) == [["<b>", "directory"]])
  }

  @Test(arguments: [
    "</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>",
    "\u{1b}]0;owned\u{7}\u{202e}\u{2028}", "\"],[\"", "\\u003c/script>", "]]>",
    "\u{d4e}</script>\u{d4e}<script>\u{d4e}<img",
  ])
  func `a key is text wherever it stands`(key: String) throws {
    try scene.put("v", key)
    let page = try scene.run("report", "c").text
    let rows = try #require(try data(page)["entries"] as? [[Any]])
    #expect(rows.count == 1 && rows[0][1] as? String == Array(key.utf8).escapedForDisplay)
    // The page has two script elements, and the key adds none.
    let bytes = Data(page.utf8)
    #expect(bytes.occurrences(of: "<script") == 2 && bytes.occurrences(of: "</script") == 2)
    #expect(bytes.occurrences(of: "<!--") == 0 && bytes.occurrences(of: "<img") == 0)
  }

  @Test func `the policy lets in what has its digest, and nothing from anywhere`() throws {
    try scene.put("v", "k")
    let page = try scene.run("report", "c", "--quick").text
    let policy = ReportPage.policy
    #expect(page.contains("content=\"\(policy)\"") && policy.hasPrefix("default-src 'none'; "))
    for word in ["http:", "https:", "src=", "url(", "innerHTML", "eval(", "import", " on"] {
      #expect(!policy.contains(word))
    }
    for word in [
      "http:", "https:", " src=", "url(", "innerHTML", "outerHTML", "insertAdjacentHTML",
    ] {
      #expect(!(ReportScript.text + ReportStyle.text + ReportMarkup.body).contains(word))
    }
    guard try scene.shell("command -v openssl").status == 0 else { return }
    for text in [ReportScript.text, ReportStyle.text] {
      try scene.write(text.utf8, to: "part")
      let digest = try scene.shell("openssl dgst -sha256 -binary part | base64").text.dropLast()
      #expect(policy.contains("'sha256-\(digest)'"))
    }
  }

  @Test func `a row has the lifetime and the data, and what has no hash is marked`() throws {
    try scene.put("v", "fixed", "--expires", "never")
    try scene.put("v", "ninety", "--expires", "9000", "--data", "a<b")
    _ = try scene.shell(
      "printf x > c/00000000000000000000000000000001; touch -m -d '+1 day' c/0*1")
    let rows = try #require(try data(try scene.run("report", "c").text)["entries"] as? [[Any]])
    let byKey = rows.reduce(into: [:]) { $0[$1[1] as? String ?? ""] = $1 }
    #expect(byKey["fixed"]?.count == 8 && byKey["fixed"]?[7] as? String == "never")
    #expect(byKey["ninety"]?[7] as? Int == 9000 && byKey["ninety"]?[8] as? String == "a<b")
    #expect(byKey["fixed"]?[5] is NSNull && byKey["ninety"]?[4] as? Int ?? 999 < 900)
    #expect((8100...9000).contains(byKey["ninety"]?[5] as? Int ?? 0))
    let byHand = try #require(byKey["(unknown)"])
    #expect(byHand.count == 7 && (byHand[6] as? Int ?? 0) & 40 == 40)
  }

  @Test(arguments: [
    (["https://x.org/a/1", "https://x.org/a/22"], "https://x.org/a/"),
    (["https://x.org/a?page=1", "https://x.org/a?page=12"], "https://x.org/a?page="),
    (["alone/in/here"], ""), (["a/b", "c/d"], ""), (["ab", "ac"], ""), (["a/b", ""], ""),
    (["a/<x/1", "a/<x/2"], "a/"), (["\u{202e}a/1", "\u{202e}a/2"], ""), (["a/", "a/b"], "a/"),
    // One of twenty is another, as one of 100,000 can be.
    ((1..<20).map { "a/b/\($0)" } + ["", "z"], "a/b/"),
    ((1..<9).map { "a/b/\($0)" } + ["", "z"], ""),
  ])
  func `the beginning that most keys share is written once`(keys: [String], prefix: String) throws {
    for key in keys { try scene.put("v", key) }
    let data = try data(try scene.run("report", "c").text)
    #expect(data["prefix"] as? String == prefix)
    let rows = try #require(data["entries"] as? [[Any]])
    let shown = rows.compactMap { row -> String? in
      guard let key = row[1] as? String, let flags = row[6] as? Int else { return nil }
      return flags & 64 == 0 ? prefix + key : key
    }.map { $0 == "(empty)" ? "" : $0 }
    #expect(Set(shown) == Set(keys.map { Array($0.utf8).escapedForDisplay }))
  }

  @Test(arguments: [Int64.min, .max, 0])
  func `a file may have any stamp`(seconds: Int64) throws {
    let cache = try DiskCache(directory: scene.root.path + "/c")
    let inventory = try cache.inventory(isChecking: false, foreignUpTo: 0)
    let content = ReportContent(
      directory: "c", now: Timestamp(seconds: 1_800_000_000), limit: nil, target: 0,
      inventory: inventory, fates: [])
    let time = Timestamp(seconds: seconds)
    let entry = DiskEntry(
      name: "x", key: nil, byteCount: 0, allocatedByteCount: 0, lastAccess: time, expiry: time,
      lifetime: nil, extendedData: [])
    var row: [UInt8] = []
    ReportData(content).append(entry, .stays, isUnused: false, to: &row)
    let values = try JSONSerialization.jsonObject(with: Data(row)) as? [Any]
    #expect((values?[4] as? Int == 0) == (seconds == .max))
    #expect((values?[5] as? Int ?? 0 > 0) == (seconds == .max))
    try cache.close()
  }

  @Test func `what cannot be read is not sound`() throws {
    var configuration = DiskCache.Configuration()
    let faults = FaultInjector()
    configuration.faults = faults
    let cache = try DiskCache(directory: scene.root.path + "/c", configuration: configuration)
    for key in ["a", "b"] { try cache.store([1], forKey: CacheKey(key)) }
    faults.plan(.errno(.ioError), for: .read, onwards: true)
    let inventory = try cache.inventory(isChecking: true, foreignUpTo: 0)
    faults.reset()
    let content = ReportContent(
      directory: "c", now: Timestamp(seconds: 0), limit: nil, target: 0, inventory: inventory,
      fates: [.stays, .stays])
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(content.json(page: []).text.utf8))
        as? [String: Any])
    #expect(json["unreadable"] as? Int == 2 && json["damaged"] as? Int == 0)
    #expect(json["checked"] as? Int == 0)
    try cache.close()
  }

  @Test func `a quick one reads no values`() throws {
    try scene.put("v", "k")
    let json = try #require(try scene.run("report", "c", "-o", "r", "--quick", "--json").json)
    #expect(json["damaged"] is NSNull && json["checked"] is NSNull)
    #expect(json["unreadable"] is NSNull)
    let page = String(decoding: try scene.read("r"), as: UTF8.self)
    #expect(try data(page)["checked"] is NSNull)
  }

  @Test func `JSON needs a file, and a page that cannot be written is status 4`() throws {
    try scene.put("v", "k")
    #expect(try scene.run("report", "c", "--json").status == 2)
    let outcome = try scene.run("report", "c", "-o", "no/where")
    #expect(outcome.status == 4 && outcome.talk.contains("cannot write to 'no/where'"))
    #expect(try scene.shell("$larder report c >/dev/full").status == 4)
    #expect(try scene.shell("$larder report c | head -c 1").text == "<")
  }

  @Test func `an empty cache has a page too`() throws {
    _ = try scene.shell("mkdir -m 700 c")
    let rows = try data(try scene.run("report", "c").text)["entries"] as? [[Any]]
    #expect(rows?.isEmpty == true)
  }
}

extension Data {
  /// Returns the number of occurrences of a text, by bytes as in a browser, not by Swift's
  /// characters.
  fileprivate func occurrences(of text: String) -> Int {
    var count = 0
    var rest = startIndex..<endIndex
    while let found = range(of: Data(text.utf8), in: rest) {
      count += 1
      rest = found.upperBound..<endIndex
    }
    return count
  }
}
