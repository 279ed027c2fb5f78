import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The shell recipes of the guide on inspecting a directory, run unchanged.
struct `A shell recipe of a guide` {
  private let live: LiveDirectory
  /// The file of the key `a`, the oldest entry.
  private let file: String

  init() throws {
    live = try LiveDirectory()
    for key in ["a", "b"] {
      live.clock.advance(by: .seconds(1))
      try live.cache.store(Array("value of \(key)".utf8), forKey: key)
    }
    live.clock.advance(by: .seconds(1))
    try live.cache.store(Array("gone".utf8), forKey: "expired", expiration: .seconds(60))
    try live.cache.store([], forKey: "never", expiration: .never)
    // Waits for the scan, which would otherwise sweep expired entries.
    #expect(try live.cache.count() == 4)
    live.catchUp()
    file = String(live.cache.path(forKey: "a").suffix(32))
  }

  /// Checks the output or the effect of a recipe. An unknown recipe fails.
  private func check(_ recipe: String, _ output: String) throws {
    let lines = output.split(separator: "\n").map(String.init)
    let names = lines.map { $0.split(separator: " ").last.map(String.init) ?? "" }
    switch recipe {
    case #"printf %s "$key" | md5sum | cut -c1-32"#: #expect(lines == [file])
    case "ls -ltur --time-style=full-iso": #expect(names.dropFirst().first == file)
    case "ls -l --time-style=full-iso":
      #expect(output.contains("2242-03-16 12:56:32.000000000"))
    case "find . -type f -newermt now":
      #expect(Set(names) == Set(["a", "b", "never"].map { "./\(name($0))" }))
    case #"find . -maxdepth 1 -type f ! -newermt now | grep -E '^./[0-9a-f]{32}(\.\w+)?$'"#:
      #expect(Set(names) == ["./\(name("expired"))", "./\(file).png"])
    case #"ls | grep -cE '^[0-9a-f]{32}(\.\w+)?$'"#: #expect(lines == ["5"])
    case "du -sb --exclude=CACHEDIR.TAG .":
      let directory = try live.shell("stat -c %s .").split(separator: "\n")[0]
      let values = ["value of a", "value of b", "gone"].joined().utf8.count
      #expect(try Int(output.prefix { $0 != "\t" }) == #require(Int(directory)) + values)
    case "getfattr -d FILE":
      #expect(output.contains(#"user.larder="1 "#) && output.contains("7d =a\""))
    case "touch -c -a FILE":
      #expect(try access("a").duration(since: access("b")) > .seconds(1800))
    case "touch -c -m -d '+7 days' FILE":
      live.clock.advance(by: .seconds(7 * 86_400 - 60))
      #expect(try live.cache.say("a") == "value of a")
    case "touch -c FILE": #expect(try live.cache.say("a") == "miss: expired")
    case "rm FILE": #expect(try live.cache.say("a") == "miss: absent")
    case let text where text.hasPrefix("FILE=$(printf %s"):
      #expect(try live.cache.say("a") == "value")
    default: Issue.record("the recipe is not tested")
    }
  }

  private func name(_ key: String) -> String { String(live.cache.path(forKey: key).suffix(32)) }

  private func access(_ key: String) throws -> Timestamp {
    try #require(try live.stranger().entry(forKey: key)).lastAccess
  }

  @Test(arguments: try Readme.recipes())
  func `does what its remark says`(recipe: String) throws {
    let command = recipe.split(separator: " ")[0]
    guard !recipe.hasPrefix("getfattr") || Shell.has("getfattr") else {
      withKnownIssue("\(command) is not installed") { Issue.record("not run") }
      return
    }
    if recipe.hasPrefix("FILE=") { try live.shell("rm \(file)") }
    // Another expired entry, and two foreign files with names of digits.
    if recipe.contains("{32}") {
      try live.shell("touch -d yesterday cafe \(file)00 \(file).png")
    }
    let script = recipe.hasPrefix("FILE=") ? recipe : recipe.replacing("FILE", with: file)
    let output = try Shell.run(script, in: live.path, ["key": "a"])
    live.catchUp()
    try check(recipe, output)
  }
}
