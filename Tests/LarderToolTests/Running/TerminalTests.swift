import Foundation
import Larder
import LarderTestSupport
import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

struct `On a terminal` {
  let scene: Scene

  init() throws {
    scene = try Scene()
    try scene.put(
      "four", "https://example.org/a/rather/long/path?with=a&query=too", "--expires", "3d")
    try scene.put("x", "evil\u{1b}[31m\u{202e}", "--expires", "never")
    try scene.put("gone", "old")
    _ = try scene.shell("touch -m c/149603e6c03516362a8da23f624db945")
  }

  static let lines = [
    ["list", "c"], ["top", "c"], ["info", "c"], ["verify", "c"], ["why", "c", "old"],
    ["diff", "c", "c"],
  ]

  @Test(arguments: lines, [80, 200] as [UInt16])
  func `every line fits, and a command to go on with ends the answer`(
    line: [String], columns: UInt16
  ) throws {
    let outcome = try scene.runOnTerminal(line, columns: columns)
    // Except paths, which are not cut, because users copy them.
    let lines = outcome.lines.filter { !$0.contains(scene.root.path) }
    #expect(lines.allSatisfy { $0.visibleWidth <= columns })
    if !["verify", "diff"].contains(line[0]) {
      #expect(outcome.lines.last?.contains("next: larder ") == true)
    }
  }

  @Test(arguments: [1, 10, 20, 34, 40, 50, 60] as [UInt16])
  func `a narrow terminal gets a narrow table`(columns: UInt16) throws {
    let outcome = try scene.runOnTerminal(["list", "c"], columns: columns)
    // Below it a sentence may tell of keys that the file system has no room for.
    let table = outcome.lines.dropLast().prefix(4)
    #expect(table.allSatisfy { $0.visibleWidth <= columns } && table.count == 4)
    #expect(
      columns < 20 || table.dropFirst().contains { $0.contains("gone") || $0.contains("old") })
  }

  @Test(.watched, arguments: [["top", "c"], ["watch", "c"], ["watch", "none", "--wait"]])
  func `q ends what is drawn again and again`(line: [String]) throws {
    let outcome = try scene.runOnTerminal(line, typing: "xq")
    #expect(outcome.status == 0)
    // The terminal itself shows the keys, if they come before the command turns that off.
    let lines = outcome.lines.map { $0.hasPrefix("xq") ? String($0.dropFirst(2)) : $0 }
    #expect(lines.filter { $0.visibleWidth > 80 && !$0.contains(scene.root.path) } == [])
  }

  @Test(.watched) func `a listing does not keep the keys waiting while the disk is slow`() throws {
    let (gate, faults) = (Gate(), FaultInjector())
    // Without a limit no scan opens the directory before the listing does.
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.mode = .readOnly
    configuration.faults = faults
    let cache = try DiskCache(directory: scene.root.path + "/c", configuration: configuration)
    faults.plan(.before { gate.pass() }, for: .openat, at: 1)
    let call = Call(arguments: Arguments(), console: Console().plain)
    let listing = try #require(call.startListing(cache))
    gate.waitUntilReached()
    #expect(try call.entries(of: listing) == nil)
    gate.open()
    var entries: [DiskEntry]?
    try eventually("the listing to end") {
      entries = try call.entries(of: listing)
      return entries != nil
    }
    #expect(entries?.count == 3)
    try cache.close()
  }

  @Test(arguments: [(80, 23), (200, 50), (48, 10), (34, 30), (20, 23), (1, 50), (80, 3), (20, 1)])
  func `the live page stays within the terminal`(columns: Int, height: Int) throws {
    let cache = try DiskCache(directory: scene.root.path + "/c")
    let call = Call(arguments: Arguments(), console: Console().plain)
    let entries = Array(repeating: try cache.entries(), count: 20).flatMap(\.self)
    func live(_ note: String?) -> [String] {
      call.liveLines(
        entries, cache.directory, note, at: WallClock.system.now(), in: (columns, height))
    }
    let (lines, noted) = (live(nil), live(String(repeating: "evicted and stored ", count: 8)))
    let ledger = WatchLedger(entries, at: WallClock.system.now())
    let watched = WatchScreen(directory: cache.directory, limit: 1000, console: call.console)
      .lines(ledger, columns: columns, height)
    for lines in [lines, noted, watched] {
      #expect(lines.count <= height && lines.allSatisfy { $0.visibleWidth <= columns })
      #expect(columns < 34 || height < 10 || lines.last?.contains("q ends") == true)
    }
    if height >= 23 && columns >= 80 {
      #expect(lines.contains { $0.hasPrefix("60 entries, ") })
      #expect(lines.contains { $0.contains("EXPIRES IN") } && lines.contains { $0.contains("KEY") })
      // Beside each other, with bars that show more than that there is something.
      let histograms = lines.drop { !$0.contains("USED AGO") }
      #expect(histograms.first?.contains("SIZE") == true)
      #expect(histograms.contains { $0.contains("####") })
    }
    try cache.close()
  }

  @Test func `freshness has colours, which NO_COLOR and --plain and TERM=dumb take away`() throws {
    let text = try scene.runOnTerminal(["list", "c"]).text
    #expect(text.contains("\u{1b}[31mexpired") && text.contains("\u{1b}[36mnever"))
    #expect(text.contains("\u{1b}[32min 3 d"))
    for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      let text = try scene.runOnTerminal(["list", "c"], environment: environment).text
      #expect(!text.contains("\u{1b}") && text.contains("expired"))
    }
    let empty = try scene.runOnTerminal(["list", "c"], environment: ["NO_COLOR": ""])
    #expect(empty.text.contains("\u{1b}[31mexpired"))
    #expect(try scene.run("man").text.contains("With any value but an empty one: no colours."))
    let plain = try scene.runOnTerminal(["list", "c", "--plain"])
    #expect(try scene.run("list", "c").text.withoutAges == plain.text.withoutAges)
  }

  @Test(arguments: ["a\u{1b}[31mb", "a\u{1}b", "a\u{9b}31mb", "a\u{7f}b"])
  func `get keeps from a terminal what it takes for commands`(value: String) throws {
    try scene.put(value, "k", "--data", value)
    for options in [[], ["--data-only"]] {
      let line = ["get", "c", "k"] + options
      let refused = try scene.runOnTerminal(line)
      #expect(refused.status == 2 && refused.text.contains("-o -"))
      #expect(!refused.text.contains(value))
      for asked in [["-o", "-"], ["--plain"]] {
        let outcome = try scene.runOnTerminal(line + asked)
        #expect(outcome.status == 0 && outcome.text == value)
      }
      #expect(try scene.run(line).text == value)
    }
    try scene.put("gr\u{f6}\u{df}e\t1\nend\n", "k")
    #expect(try scene.runOnTerminal(["get", "c", "k"]).lines.last == "end")
  }

  @Test func `COLUMNS wins over the terminal, and counts for nothing in a pipe`() throws {
    let outcome = try scene.runOnTerminal(["list", "c"], environment: ["COLUMNS": "60"])
    #expect(outcome.lines.dropLast().allSatisfy { $0.visibleWidth <= 60 })
    let piped = try scene.run(["list", "c"], environment: ["COLUMNS": "60"])
    #expect(piped.text.contains("er/long/path?with=a&query=too\n"))
    #expect(piped.talk.isEmpty)
  }

  @Test(arguments: lines)
  func `a pipe gets ASCII of ours, no hint and no escape`(line: [String]) throws {
    let outcome = try scene.run(line)
    #expect(outcome.talk.isEmpty)
    #expect(outcome.output.allSatisfy { $0 == 10 || (0x20..<0x7f).contains($0) })
    // Without ages, because the two runs may be seconds apart on a slow machine.
    let plain = try scene.run(line + ["--plain"])
    #expect(plain.text.withoutAges == outcome.text.withoutAges)
  }

  @Test(arguments: lines)
  func `JSON has its schema on a terminal too, and nothing beside it`(line: [String]) throws {
    let text = try scene.runOnTerminal(line + ["--json"]).text
    let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(json?["schema"] as? Int == 1)
  }
}

extension String {
  /// The text with each number, each run of white space and each `now` replaced by one character,
  /// so that it is the same a few seconds later.
  fileprivate var withoutAges: String {
    replacing(#/\d+ s ago|(just )?\bnow\b/#, with: "0").replacing(#/\d+/#, with: "0")
      .replacing(#/\s+/#, with: " ")
  }
}
