import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem
@testable import LarderTool

private typealias Recorded = LarderFixtures.Fixture

/// Each use of a load gives in a run that replays what it gave in the run that recorded.
@Suite(
  .watched,
  .enabled("no attributes under the temporary folder") { FileSystemFeatures.hasAttributes }
)
struct `A load of a cache on a fixture` {
  private let scene: TemporaryDirectory
  private let path: String
  private let loads = Counter()

  init() throws {
    scene = try TemporaryDirectory()
    path = scene.path + "/fixture"
  }
}

extension `A load of a cache on a fixture` {
  /// Runs a test's body on the fixture.
  private func run<Result>(
    isRecording: Bool, _ change: (inout DiskCache.Configuration) -> Void = { _ in },
    _ body: (Cache<String>, ManualClock) async throws -> Result
  ) async throws -> Result {
    let fixture = try Recorded(path, isRecording: isRecording)
    var configuration = CacheConfiguration()
    change(&configuration.disk)
    let cache = try Cache(fixture: fixture, coder: .string, configuration: configuration)
    let result = try await body(cache, fixture.clock)
    try await cache.close()
    return result
  }

  private func text(
    of key: CacheKey, in cache: Cache<String>, expiration: Expiration? = nil
  ) async throws -> String {
    try await cache.withFile(forKey: key, expiration: expiration) { file in
      var bytes = [UInt8](repeating: 0, count: file.byteCount)
      _ = try file.read(into: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    } orStore: { [loads] writer in
      loads.add()
      writer.setExtendedData([7])
      try await writer.write(Array("file \(loads.value)".utf8))
    }
  }

  @Test func `of a value that does not decode tells its file and the coder's error`() async throws {
    struct NoNumber: Error, Equatable {
      let text: String
    }
    try FixtureDirectory(path, makesDirectory: true)
      .record(
        .init(Array("one".utf8), expiration: .never), forKey: "k", at: FixtureDirectory.start)
    let coder = Coder<Int>(
      encode: { Array(String($0).utf8) },
      decode: { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        guard let number = Int(text) else { throw NoNumber(text: text) }
        return number
      })
    for isRecording in [false, true] {
      let fixture = try Recorded(path, isRecording: isRecording)
      let cache = try Cache(fixture: fixture, coder: coder)
      let miss = await #expect(throws: FixtureMiss.self) {
        try await cache.value(forKey: "k") { [loads] in
          loads.add()
          return 1
        }
      }
      let text = miss?.description ?? ""
      #expect(text.contains("NoNumber(text: \"one\")") && text.contains("\(EntryName("k"))"))
      try await cache.close()
    }
    #expect(loads.value == 0)
  }

  @Test func `of what was never recorded is no failure of the source`() async throws {
    var configuration = CacheConfiguration()
    configuration.disk.expiredGrace = .seconds(60)
    try FixtureDirectory(path, makesDirectory: true)
      .record(.init([97], expiration: .seconds(10)), forKey: "old", at: FixtureDirectory.start)
    let fixture = try Recorded(path, isRecording: false)
    let cache = try Cache(fixture: fixture, coder: .string, configuration: configuration)
    fixture.clock.advance(by: .seconds(20))
    let options: LoadOptions = [
      .keepingFailures(for: .seconds(600)), .staleIfFailing(.seconds(60)),
    ]
    for key in ["new", "old"] as [CacheKey] {
      for _ in 1...2 {
        await #expect(throws: FixtureMiss.self) {
          try await cache.value(forKey: key, options: options) { "loaded" }
        }
      }
    }
    #expect(cache.statistics.loads.servedFailures == 0)
    #expect(cache.statistics.loads.servedStale == 0)
    try await cache.close()
  }

  @Test func `of a file is recorded once, and never runs in a replay`() async throws {
    try await run(isRecording: true) { cache, _ in
      for _ in 1...2 {
        let text = try await text(of: "k", in: cache, expiration: .days(1))
        #expect(text == "file 1")
      }
    }
    let line = try #require(
      try FixtureDirectory(path).manifest().candidates(for: EntryName(CacheKey("k"))).first)
    #expect(line.expiry == FixtureDirectory.start.adding(seconds: 86_400))
    try await run(isRecording: false) { cache, clock in
      let text = try await text(of: "k", in: cache)
      #expect(text == "file 1")
      #expect(try await cache.read(forKey: "k")?.extendedData == [7])
      let miss = await #expect(throws: FixtureMiss.self) {
        try await self.text(of: "other", in: cache)
      }
      #expect(miss?.isRecorded == false && miss?.key == "other")
      clock.advance(by: .seconds(172_800))
      let late = await #expect(throws: FixtureMiss.self) {
        try await self.text(of: "k", in: cache)
      }
      #expect(late?.description.contains("has expired by its clock") == true)
    }
    #expect(loads.value == 1)
    #expect(try FixtureDirectory(path).check().findings.isEmpty)
  }

  @Test func `of a file gets what another test of the run has recorded`() async throws {
    try await run(isRecording: true) { second, _ in
      let first = try await run(isRecording: true) { first, _ in
        try await self.text(of: "k", in: first)
      }
      let text = try await self.text(of: "k", in: second)
      #expect(first == "file 1" && text == "file 1")
    }
    #expect(loads.value == 1)
  }

  @Test func `of a file gets what another test has recorded while it ran`() async throws {
    let text = try await run(isRecording: true) { second, _ in
      try await second.withFile(forKey: "k") { file in
        var bytes = [UInt8](repeating: 0, count: file.byteCount)
        _ = try file.read(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
      } orStore: { writer in
        _ = try await self.run(isRecording: true) { first, _ in
          try await self.text(of: "k", in: first)
        }
        try await writer.write(Array("another".utf8))
      }
    }
    #expect(text == "file 1")
  }

  @Test func `that keeps nothing is recorded, and no read finds its value`() async throws {
    for isRecording in [true, false, true] {
      try await run(isRecording: isRecording) { cache, _ in
        for _ in 1...2 {
          let value = try await cache.value(forKey: "k") { [loads] previous in
            #expect(previous == nil)
            loads.add()
            return .notKept("value")
          }
          #expect(value == "value")
          #expect(try await cache.read(forKey: "k", allowingExpired: true) == nil)
          #expect(try await cache.value(forKey: "k", options: .allowingExpired) == nil)
          #expect(cache.statistics.disk.rejections == [:])
        }
      }
    }
    #expect(loads.value == 1)
    #expect(try FixtureDirectory(path).check().findings.isEmpty)
  }

  @Test(arguments: [
    Expiration.date(FixtureDirectory.start.adding(seconds: -9)), .seconds(-9), .seconds(0),
  ])
  func `of a value that has expired already gets it in each run`(
    expiration: Expiration
  ) async throws {
    for isRecording in [true, false, true] {
      try await run(isRecording: isRecording) { cache, _ in
        for _ in 1...2 {
          let value = try await cache.value(forKey: "k") { [loads] _ in
            loads.add()
            return .value("value", expiration: expiration)
          }
          #expect(value == "value")
          #expect(try await cache.read(forKey: "k", allowingExpired: true) == nil)
        }
      }
    }
    #expect(loads.value == 1)
    #expect(try FixtureDirectory(path).check().findings.isEmpty)
  }

  @Test(arguments: [false, true])
  func `of a value that a cache cannot store, or may not, gets it in each run`(
    isLimited: Bool
  ) async throws {
    for isRecording in [true, false, true] {
      try await run(isRecording: isRecording) {
        if isLimited { $0.shouldStore = { _, byteCount in byteCount > 5 } }
      } _: { cache, _ in
        for _ in 1...2 {
          let value = try await cache.value(forKey: "k") { [loads] _ in
            loads.add()
            return .value("value", extendedData: isLimited ? [] : Array(repeating: 7, count: 1025))
          }
          #expect(value == "value")
        }
      }
    }
    #expect(loads.value == 1)
    #expect(try FixtureDirectory(path).check().findings.isEmpty)
  }

  @Test(arguments: [
    Expiration.seconds(3600), .date(FixtureDirectory.start.adding(seconds: 3600)),
  ])
  func `of a value that a replay would find expired is refused in each run`(
    expiration: Expiration
  ) async throws {
    for isRecording in [true, false, true] {
      try await run(isRecording: isRecording) { cache, clock in
        clock.advance(by: .seconds(7200))
        let miss = await #expect(throws: FixtureMiss.self) {
          try await cache.value(forKey: "k", expiration: expiration) { "value" }
        }
        let memory = try await cache.value(
          forKey: "memory", expiration: .seconds(60), options: .memoryOnly
        ) { "value" }
        #expect(memory == "value")
        #expect(miss?.description.contains("has expired by its clock") == true)
        let kept = try await cache.value(forKey: "long", expiration: .seconds(9000)) { "value" }
        #expect(kept == "value")
      }
    }
  }

  @Test func `of a key that is not to be recorded records its digest`() async throws {
    for isRecording in [true, false] {
      try await run(isRecording: isRecording) {
        $0.recordKeys = .never
      } _: { cache, _ in
        let value = try await cache.value(forKey: "secret") { "value" }
        #expect(value == "value")
      }
    }
    let manifest = try FixtureDirectory(path).manifest()
    #expect(manifest.candidates(for: EntryName(CacheKey("secret"))).count == 1)
    #expect(!manifest.text.contains("secret"))
  }

  @Test func `that was cut off before its line was written is completed by the next recording`()
    async throws
  {
    func record() async throws {
      try await run(isRecording: true) { cache, _ in
        let value = try await cache.value(forKey: "k") { [loads] _ in
          loads.add()
          return .value("value", expiration: .days(1), extendedData: [7])
        }
        #expect(value == "value")
        let text = try await cache.value(forKey: "by hand") { "loaded" }
        #expect(text == "hand")
      }
    }
    let directory = try FixtureDirectory(path, makesDirectory: true)
    let hand = EntryName(CacheKey("by hand"))
    try Data("hand".utf8).write(to: URL(filePath: "\(path)/\(hand)"))
    try await record()
    let manifest = try directory.manifest()
    try Data().write(to: URL(filePath: path + "/manifest"))
    try await record()
    #expect(try directory.manifest() == manifest && loads.value == 1)
    // A file that was made by hand needs no line.
    #expect(try directory.check().findings.map(\.kind) == [.unlisted])
  }

  @Test(arguments: [LoadOptions.reload, .memoryOnly, .diskOnly])
  func `gets the recorded value where it passes over a valid one`(
    options: LoadOptions
  ) async throws {
    for isRecording in [true, false, true] {
      try await run(isRecording: isRecording) { cache, _ in
        for _ in 1...2 {
          let value = try await cache.value(forKey: "k", options: options) { [loads] in
            loads.add()
            return "value"
          }
          #expect(value == "value")
        }
        let tier = try await cache.tier(forKey: "k")
        #expect(tier == (options == .diskOnly ? .disk : .memory))
        #expect(try await cache.contains("k"))
      }
    }
    #expect(loads.value == 1)
  }

  @Test func `gets the recorded value again for memory alone when memory has dropped it`()
    async throws
  {
    for isRecording in [true, false] {
      try await run(isRecording: isRecording) { cache, _ in
        for _ in 1...2 {
          let value = try await cache.value(forKey: "k", options: .memoryOnly) { [loads] in
            loads.add()
            return "value"
          }
          #expect(value == "value")
          cache.memory.removeAll()
        }
      }
    }
    #expect(loads.value == 1)
  }

  @Test(arguments: [true, false])
  func `says of a value that is not there whether it has expired or gone`(
    isRecording: Bool
  ) async throws {
    try await run(isRecording: true) { cache, _ in
      for key in ["expired", "removed"] {
        _ = try await cache.value(forKey: key, expiration: .days(1)) { "value" }
      }
      guard isRecording else { return }
      try await expectMisses(in: cache, { try cache.disk.touch(forKey: $0, expiration: .expired) })
    }
    try await run(isRecording: isRecording) { cache, _ in
      try await expectMisses(in: cache, { try cache.disk.touch(forKey: $0, expiration: .expired) })
    }
  }

  private func expectMisses(
    in cache: Cache<String>, _ expire: (String) throws -> Bool
  ) async throws {
    _ = try expire("expired")
    try await cache.remove(forKey: "removed")
    for (key, words) in [("expired", "has expired by its clock"), ("removed", "it was removed")] {
      let miss = await #expect(throws: FixtureMiss.self) {
        try await cache.value(forKey: key, options: .reload) { "loaded" }
      }
      #expect(miss?.isRecorded == true && miss?.description.contains(words) == true, "\(key)")
    }
  }

  @Test(arguments: [true, false])
  func `may use the cache, and so may the coder`(isRecording: Bool) async throws {
    try await run(isRecording: true) { cache, _ in
      guard !isRecording else { return }
      _ = try await cache.value(forKey: "k") { "value" }
      _ = try await text(of: "file", in: cache)
    }
    let (box, runs) = (Shared<Cache<String>?>(nil), Shared<[String: Int]>([:]))
    let use: @Sendable (String) -> Void = { kind in
      guard let cache = box.value else { return }
      box.value = nil
      runs.change { $0[kind, default: 0] += 1 }
      for key in ["k", "file"] {
        _ = try? cache.contains(key)
        _ = try? cache.remove(forKey: key)
        _ = try? cache.disk.store(Array("value".utf8), forKey: key)
      }
      box.value = cache
    }
    let coder = Coder<String>(
      encode: {
        use("encoder")
        return Array($0.utf8)
      },
      decode: {
        use("decoder")
        return String(decoding: $0, as: UTF8.self)
      })
    let cache = try Cache(fixture: try Recorded(path, isRecording: isRecording), coder: coder)
    box.value = cache
    let value = try await cache.value(forKey: "k", options: .reload) {
      use("load")
      return "value"
    }
    #expect(value == "value")
    try await cache.remove(forKey: "file")
    _ = try? await cache.withFile(forKey: "file") { _ in
      use("closure")
    } orStore: { writer in
      use("file load")
      try await writer.write([1])
    }
    let recording = ["encoder", "decoder", "load", "closure", "file load"]
    #expect(Set(runs.value.keys) == Set(isRecording ? recording : ["encoder", "decoder"]))
    box.value = nil
    try await cache.close()
  }

  @Test func `says which directory is missing where no copy can be made`() async throws {
    await #expect(processExitsWith: .success) {
      let scene = try TemporaryDirectory()
      let path = scene.path + "/fixture"
      try FixtureDirectory(path, makesDirectory: true).record(
        .init([1], expiration: .never), forKey: "k", at: FixtureDirectory.start)
      unsafe setenv("TMPDIR", scene.path + "/missing", 1)
      let error = #expect(throws: CacheError.self) { try Cache(fixture: path, coder: .bytes) }
      #expect(error?.path == scene.path + "/missing")
    }
  }
}
