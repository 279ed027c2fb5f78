import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Loads that get the previous value and may confirm it.
@Suite(.watched)
struct `A load that knows the previous value` {
  let scene: DiskScene
  let cache: Cache<String>

  struct Failure: Error, Equatable {}

  init() throws {
    scene = try DiskScene()
    cache = try Self.open(scene)
  }
}

extension `A load that knows the previous value` {
  private static func open(
    _ scene: DiskScene, _ change: (inout CacheConfiguration) -> Void = { _ in }
  ) throws -> Cache<String> {
    try scene.open(.string) { configuration in
      configuration.disk.extending = .off
      configuration.disk.expiredGrace = .seconds(3600)
      change(&configuration)
    }
  }

  /// Stores a value with extended data that expired ten seconds ago.
  private func storeExpired() async throws {
    try await cache.store("old", forKey: "k", expiration: .seconds(60), extendedData: [7])
    scene.clock.advance(by: .seconds(70))
  }

  private func expiry() async throws -> Int64? {
    try await cache.disk.entry(forKey: "k", allowingExpired: true)?.expiry?
      .duration(since: scene.clock.now).components.seconds
  }

  @Test func `gets an expired value with all that is beside it`() async throws {
    let start = scene.clock.now
    try await storeExpired()
    let value = try await cache.value(forKey: "k") { previous in
      #expect(previous?.value == "old" && previous?.extendedData == [7])
      #expect(previous?.expiry == start.adding(seconds: 60) && previous?.lastAccess == start)
      #expect(previous?.hasExpired == true)
      return .value("new", expiration: .seconds(5), extendedData: [8])
    }
    #expect(value == "new")
    #expect(try await cache.tier(forKey: "k") == .memory)
    let read = try #require(try await cache.read(forKey: "k"))
    #expect(read.value == "new" && read.extendedData == [8] && !read.hasExpired)
    #expect(try await expiry() == 5)
  }

  @Test func `gets none where there is none, or none that decodes`() async throws {
    let value = try await cache.value(forKey: "k") { previous in
      #expect(previous == nil)
      return .value("new")
    }
    #expect(value == "new")
    try await cache.disk.store([0xff], forKey: "odd")
    let odd = try await cache.value(forKey: "odd") { .value($0 == nil ? "none" : "some") }
    #expect(odd == "none")
  }

  @Test func `does not run while the value is valid, unless it is forced`() async throws {
    try await cache.store("fresh", forKey: "k", expiration: .seconds(60), extendedData: [7])
    let value = try await cache.value(forKey: "k") { _ in throw Failure() }
    #expect(value == "fresh")
    let forced = try await cache.value(forKey: "k", options: .reload) { previous in
      #expect(previous?.value == "fresh" && previous?.hasExpired == false)
      #expect(previous?.extendedData == [7])
      return .value("forced")
    }
    #expect(forced == "forced")
    #expect(try await cache.value(forKey: "k") == "forced")
  }

  @Test func `lets the old value live on without writing a byte of it`() async throws {
    try await storeExpired()
    let before = try scene.status(scene.name("k"))
    scene.faults.reset()
    let value = try await cache.value(forKey: "k") { _ in .notModified(expiration: .days(1)) }
    #expect(value == "old")
    for call in [SystemCall.write, .copyFileRange, .linkat, .renameat, .unlinkat] {
      #expect(scene.faults.count(of: call) == 0, "\(call)")
    }
    #expect(try scene.status(scene.name("k")).identity == before.identity)
    #expect(try await expiry() == 86_400)
    #expect(try await cache.tier(forKey: "k") == .memory)
    let hits = cache.statistics.memory.hits
    #expect(try await cache.value(forKey: "k") == "old")
    #expect(cache.statistics.memory.hits == hits + 1)
    #expect(try await cache.read(forKey: "k")?.extendedData == [7])
    #expect(cache.statistics.loads.renewed == 1)
    scene.clock.advance(by: .seconds(86_400))
    #expect(try await cache.value(forKey: "k") == nil)
  }

  @Test func `renews a value that memory held for longer than it is valid now`() async throws {
    try await cache.store("old", forKey: "k", expiration: .days(1))
    let options = LoadOptions.reload
    _ = try await cache.value(forKey: "k", options: options) { _ in
      .notModified(expiration: .seconds(2))
    }
    scene.clock.advance(by: .seconds(2))
    #expect(try await cache.value(forKey: "k") == nil)
  }

  @Test func `finds a value that has been expired since the beginning of time`() async throws {
    try await cache.store("old", forKey: "k")
    let longPast = Timestamp(seconds: .min)
    let options = LoadOptions.reload
    _ = try await cache.value(forKey: "k", options: options) { _ in
      .notModified(expiration: .date(longPast))
    }
    let value = try await cache.value(forKey: "k") { previous in
      #expect(previous?.value == "old")
      return .notModified(expiration: .days(1))
    }
    #expect(value == "old")
  }

  @Test func `hands on what is not kept, and removes or keeps the old as it says`() async throws {
    try await storeExpired()
    let value = try await cache.value(forKey: "k") { _ in .notKept("once", keepsPrevious: true) }
    #expect(value == "once")
    #expect(try await cache.value(forKey: "k") == nil)
    #expect(try await cache.read(forKey: "k", allowingExpired: true)?.value == "old")
    let second = try await cache.value(forKey: "k") { _ in .notKept("twice") }
    #expect(second == "twice")
    #expect(try scene.names == [])
    #expect(try await cache.tier(forKey: "k") == nil)
  }

  @Test func `says nothing of nothing`() async throws {
    await #expect {
      try await cache.value(forKey: "k") { _ in .notModified() }
    } throws: {
      ($0 as? CacheError)?.code == .callerFailed
    }
  }

  /// A change of the key while a load runs, after which `.notModified` must not restore the old
  /// value.
  enum Change: String, CaseIterable, Sendable {
    case removed, ended, cleared, removedByHand, replaced, replacedByHand

    func apply(to cache: Cache<String>, _ scene: DiskScene) throws {
      switch self {
      case .removed: _ = try cache.remove(forKey: "k")
      case .ended:
        #expect(try cache.disk.touch(forKey: "k", expiration: .expired, allowingExpired: true))
      case .cleared: _ = try cache.removeAll()
      case .removedByHand: try FileManager.default.removeItem(atPath: scene.file("k"))
      case .replaced: try cache.store("newer", forKey: "k", expiration: .seconds(3))
      case .replacedByHand:
        try FileManager.default.removeItem(atPath: scene.file("k"))
        try scene.plant(
          Array("newer".utf8), named: scene.name("k").text,
          expiry: scene.clock.now.adding(seconds: 3))
      }
    }

    var leaves: String? { self == .replaced || self == .replacedByHand ? "newer" : nil }
  }

  @Test(arguments: Change.allCases, [nil, 1 << 20])
  func `does not bring back what was replaced or removed meanwhile`(
    change: Change, writeBehindLimit: Int?
  ) async throws {
    try await storeExpired()
    // Closed first, because limits and write-behind are settings of the directory's first opener.
    try await self.cache.close()
    let scene = scene
    let cache = try Self.open(scene) { $0.disk.writeBehindLimit = writeBehindLimit }
    let value = try await cache.value(forKey: "k") { _ in
      try change.apply(to: cache, scene)
      return .notModified(expiration: .days(1))
    }
    #expect(value == "old")
    #expect(try await cache.tier(forKey: "k") != .memory || change == .replaced)
    #expect(try await cache.value(forKey: "k") == change.leaves)
    scene.clock.advance(by: .seconds(3))
    #expect(try await cache.value(forKey: "k") == nil)
  }

  @Test(arguments: [Change.removed, .cleared, .replaced])
  func `does not store over, or remove, what came meanwhile`(change: Change) async throws {
    let (cache, scene) = (cache, scene)
    for isKept in [true, false] {
      try await storeExpired()
      _ = try await cache.value(forKey: "k") { _ in
        try change.apply(to: cache, scene)
        return isKept ? .value("loaded") : .notKept("loaded")
      }
      #expect(try await cache.value(forKey: "k") == change.leaves)
    }
  }

  @Test func `stores the old value anew where its file cannot be stamped`() async throws {
    try await storeExpired()
    // As for a file of another user in a shared group: the first stamp is that of the old file.
    scene.faults.plan(.errno(.notPermitted), for: .futimens, at: 1)
    let value = try await cache.value(forKey: "k") { _ in .notModified(expiration: .seconds(60)) }
    #expect(value == "old")
    let read = try #require(try await cache.read(forKey: "k"))
    #expect(read.value == "old" && read.extendedData == [7])
    #expect(cache.statistics.loads.unstored == 0)
  }

  @Test func `runs once for all who ask, and once behind an expired value`() async throws {
    try await storeExpired()
    let (cache, gate, loads) = (cache, AsyncGate(), Counter())
    let tasks = (0..<20).map { _ in
      Task {
        try await cache.value(forKey: "k") { _ in
          loads.add()
          await gate.wait()
          return .notModified(expiration: .seconds(60))
        }
      }
    }
    while cache.flights.waiterCount < 20 { await Task.yield() }
    gate.open()
    for task in tasks { #expect(try await task.value == "old") }
    #expect(loads.value == 1)
    scene.clock.advance(by: .seconds(60))
    let options = LoadOptions.staleWhileRevalidating(.seconds(600))
    let stale = try await cache.value(forKey: "k", options: options) { previous in
      loads.add()
      return previous?.hasExpired == true ? .notModified(expiration: .seconds(60)) : .value("?")
    }
    #expect(stale == "old")
    try await eventually("the refresh") { try await cache.value(forKey: "k") != nil }
    #expect(try await cache.value(forKey: "k") == "old")
    #expect(loads.value == 2)
  }

  @Test func `is told from a load that knows nothing by its closure alone`() async throws {
    @Sendable func plain() async throws -> String { "plain" }
    @Sendable func knowing(_ previous: CachedValue<String>?) async throws -> Loaded<String> {
      .value(previous?.value ?? "none")
    }
    let values = [
      try await cache.value(forKey: "1") { "literal" },
      try await cache.value(forKey: "2") { try await plain() },
      try await cache.value(forKey: "3") {
        let text = try await plain()
        return text + "!"
      },
      try await cache.value(forKey: "4", orStore: plain),
      try await cache.value(forKey: "5") { _ in .value("ignored") },
      try await cache.value(forKey: "6") { previous in
        if let previous { return .value(previous.value) }
        return .value("nothing")
      },
      try await cache.value(forKey: "7") { .value($0?.value ?? "short") },
      try await cache.value(forKey: "8", orRevalidate: knowing),
      try await cache.value(forKey: "9", expiration: .days(1)) { "with expiration" },
    ]
    #expect(
      values == [
        "literal", "plain", "plain!", "plain", "ignored", "nothing", "short", "none",
        "with expiration",
      ])
  }
}
