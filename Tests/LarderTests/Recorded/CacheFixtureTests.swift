import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

private typealias Recorded = LarderFixtures.Fixture

@Suite(.enabled("no attributes under the temporary folder") { FileSystemFeatures.hasAttributes })
struct `A cache on a fixture` {
  private let scene: TemporaryDirectory
  private let path: String

  init() throws {
    scene = try TemporaryDirectory()
    path = scene.path + "/fixture"
    let directory = try FixtureDirectory(path, makesDirectory: true)
    for (key, expiration) in [("hour", Expiration.seconds(3600)), ("never", .never)] {
      try directory.record(
        .init(Array("value of \(key)".utf8), expiration: expiration), forKey: CacheKey(key),
        at: FixtureDirectory.start)
    }
  }
}

extension `A cache on a fixture` {
  private func open(
    isRecording: Bool = false
  ) throws -> (cache: Cache<String>, clock: ManualClock) {
    let fixture = try Recorded(path, isRecording: isRecording)
    return (try Cache(fixture: fixture, coder: .string), fixture.clock)
  }

  @Test func `serves what was recorded, whatever the day`() async throws {
    let (cache, clock) = try open()
    #expect(clock.now == FixtureDirectory.start)
    #expect(try await cache.value(forKey: "hour") == "value of hour")
    let loaded = try await cache.value(forKey: "hour") { "loaded" }
    #expect(loaded == "value of hour")
    try await cache.close()
  }

  @Test func `lets values expire when its clock is moved`() throws {
    let (cache, clock) = try open()
    clock.advance(by: .seconds(3599))
    #expect(try cache.value(forKey: "hour") != nil)
    clock.advance(by: .seconds(3600))
    #expect(try cache.value(forKey: "hour") == nil)
    #expect(try cache.value(forKey: "never") != nil)
  }

  @Test func `refuses a load of what is not there, and says how to record it`() async throws {
    let (cache, _) = try open()
    let loads = Counter()
    let miss = await #expect(throws: FixtureMiss.self) {
      _ = try await cache.value(forKey: "it's new") {
        loads.add()
        return ""
      }
    }
    #expect(loads.value == 0)
    #expect(miss?.key == "it's new" && miss?.isRecorded == false)
    let text = try #require(miss).description
    #expect(text.contains("LARDER_RECORD=1 swift test"))
    #expect(text.contains("larder record '\(path)' 'it'\\''s new' FILE"))
  }

  @Test func `tells what has expired from what was never recorded`() async throws {
    let (cache, clock) = try open(isRecording: true)
    clock.advance(by: .seconds(7200))
    let miss = await #expect(throws: FixtureMiss.self) {
      _ = try await cache.value(forKey: "hour") { "loaded" }
    }
    #expect(miss?.isRecorded == true && miss?.description.contains("expired") == true)
  }

  @Test func `records what a test loads, once, and gives it to the next test`() async throws {
    let loads = Counter()
    let (cache, clock) = try open(isRecording: true)
    clock.advance(by: .seconds(60))
    for _ in 1...2 {
      let value = try await cache.value(forKey: "new", expiration: .days(1)) {
        loads.add()
        return "fresh"
      }
      #expect(value == "fresh")
    }
    #expect(loads.value == 1)
    try await cache.close()
    let (next, _) = try open()
    #expect(try await next.value(forKey: "new") == "fresh")
    let line = try #require(
      try FixtureDirectory(path).manifest().candidates(for: EntryName(CacheKey("new"))).first)
    // The date is the fixture's, not that of the test's clock.
    #expect(line.lastAccess == FixtureDirectory.start)
    #expect(line.expiry == FixtureDirectory.start.adding(seconds: 86_400))
    #expect(try FixtureDirectory(path).check().findings.isEmpty)
  }

  @Test func `finds what another test of the run has recorded meanwhile`() async throws {
    let (first, _) = try open(isRecording: true)
    let (second, _) = try open(isRecording: true)
    let loads = Counter()
    let recorded = try await first.value(forKey: "new") { "first" }
    #expect(recorded == "first")
    let value = try await second.value(forKey: "new") {
      loads.add()
      return "second"
    }
    #expect(value == "first" && loads.value == 0)
    #expect(try await second.value(forKey: "new") == "first")
  }

  @Test func `has the data beside a value that another test of the run has recorded`() async throws
  {
    let (first, _) = try open(isRecording: true)
    let (second, _) = try open(isRecording: true)
    let load: @Sendable (CachedValue<String>?) -> Loaded<String> = { _ in
      .value("first", extendedData: Array("etag".utf8))
    }
    _ = try await first.value(forKey: "new", orRevalidate: load)
    _ = try await second.value(forKey: "new") { "second" }
    for cache in [second, try open().cache] {
      let found = try await cache.read(forKey: "new")
      #expect(found?.value == "first" && found?.extendedData == Array("etag".utf8))
    }
  }

  @Test func `gives one value to tests that load one key at the same time`() async throws {
    let caches = try (1...6).map { _ in try open(isRecording: true).cache }
    let loads = Counter()
    let values = try await withThrowingTaskGroup { group in
      for (number, cache) in caches.enumerated() {
        group.addTask {
          try await cache.value(forKey: "new") {
            loads.add()
            // All caches have begun their loads before the first is recorded.
            while loads.value < caches.count { await Task.yield() }
            return "\(number)"
          }
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(values.count == 1)
    let (next, _) = try open()
    #expect(try await next.value(forKey: "new") == values.first)
    #expect(try FixtureDirectory(path).check().findings.isEmpty)
  }

  @Test func `records in no directory of other things`() throws {
    try Shell.run("mkdir repository; echo x > repository/main.c", in: scene.path)
    let repository = scene.path + "/repository"
    let error = #expect(throws: CacheError.self) { try Recorded(repository, isRecording: true) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.description.contains("empty file named manifest") == true)
    #expect(try Shell.run("ls -A", in: repository) == "main.c\n")
    try Shell.run(": > manifest", in: repository)
    #expect(try Recorded(repository, isRecording: true).isRecording)
  }

  @Test(arguments: ["C:\\temp\\x", "-n", "it's", "100%", "\u{1b}[31m\n", "-\u{202e}", ""])
  func `names the command that records a key, whatever it is made of`(key: String) throws {
    let miss = FixtureMiss(
      key: CacheKey(key), path: "/some/\u{1b}[31m where", cause: .unrecorded, fileExtension: .none)
    let command = try #require(miss.description.split(separator: "\n").last).trimmingPrefix(" ")
    #expect(String(command).isSafeForDisplay)
    // The shell prints the command's arguments and stdin, each after a mark.
    let script = """
      larder() { for word; do printf '<%s>' "$word"; done; case "$*" in *key-file*) cat;; esac; }
      \(command)
      """
    let output = try Shell.run(script, in: scene.path)
    #expect(output.contains("</some/\u{1b}[31m where>"))
    #expect(output.contains("<\(key)>") || output.hasSuffix(">\(key)"), "\(command)")
    let isOption = key.hasPrefix("-") && output.contains("<\(key)>")
    #expect(!isOption || output.hasPrefix("<record><-->"))
  }

  @Test func `names the extension that the recorded file has`() throws {
    let json = try #require(FileExtension(Array("json".utf8)))
    let miss = FixtureMiss(
      key: "k", path: "/f", cause: .unrecorded, fileExtension: json)
    #expect(miss.description.hasSuffix("larder record '/f' 'k' FILE --ext json"))
  }

  @Test func `records nothing of a load that fails`() async throws {
    struct Refused: Error {}
    let (cache, _) = try open(isRecording: true)
    await #expect(throws: Refused.self) {
      _ = try await cache.value(forKey: "new") { throw Refused() }
    }
    #expect(try FixtureDirectory(path).manifest().lines.count == 2)
  }

  @Test func `changes its copy alone, which ends with it`() throws {
    let before = try DirectoryRecord(path)
    let (cache, clock) = try open()
    let copy = cache.disk.directory
    #expect(copy != path)
    try cache.store("other", forKey: "hour")
    try cache.remove(forKey: "never")
    clock.advance(by: .seconds(1_000_000))
    try cache.removeExpired()
    try cache.close()
    #expect(!FileManager.default.fileExists(atPath: copy))
    let after = try DirectoryRecord(path)
    #expect(after.manifest == before.manifest && after.contents == before.contents)
  }

  @Test func `leaves no copy behind when it is dropped`() throws {
    var cache: Cache<String>? = try open().cache
    let copy = try #require(cache?.disk.directory)
    #expect(try cache?.value(forKey: "hour") != nil)
    cache = nil
    #expect(!FileManager.default.fileExists(atPath: copy))
  }

  @Test func `is made by a recording and missed by any other test`() throws {
    let missing = scene.path + "/missing"
    let error = #expect(throws: CacheError.self) { try Recorded(missing, isRecording: false) }
    #expect(error?.code == .directoryMissing)
    #expect(error?.description.contains("LARDER_RECORD=1") == true)
    #expect(try Recorded(missing, isRecording: true).clock.now == FixtureDirectory.start)
  }

  @Test func `is found beside the source file of the test`() throws {
    let fixture = try Recorded(
      "fixture", isRecording: false, relativeTo: scene.path + "/SomeTests.swift")
    #expect(fixture.path == path)
  }
}
