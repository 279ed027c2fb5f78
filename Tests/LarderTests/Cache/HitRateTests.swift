import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures

/// What a call counts as in the share of hits.
@Suite(.watched)
struct `The share of hits` {
  let scene: DiskScene
  let cache: Cache<String>

  struct Failure: Error {}

  init() throws {
    scene = try DiskScene()
    cache = try scene.open(.string) { $0.disk.expiredGrace = .seconds(3600) }
  }

  @Test func `what prints has public names only`() async throws {
    let key: CacheKey = "page/1"
    _ = try await cache.value(forKey: key) { "new" }
    #expect("\(key)" == "page/1" && "\(CacheKey([0xFF]))" == "\\xff")
    #expect("\(cache.statistics.loads)".hasPrefix("LoadStatistics(started: 1, succeeded: 1,"))
    let start = "CacheStatistics(hitRate: Optional(0.0), hitCount: 0, missCount: 1, memory: "
    #expect("\(cache.statistics)".hasPrefix(start))
    #expect("\(cache.statistics.memory)".hasPrefix("MemoryStatistics(hits: 0, missesAbsent: "))
    let text = "\(cache) \(cache.disk) \(cache.memory) \(cache.statistics)"
    for name in ["counters", "repeated", "content", "engine"] { #expect(!text.contains(name)) }
    let disk = "\(cache.disk.statistics)"
    #expect(disk.hasPrefix("DiskStatistics(hits: 0, misses: [LarderDisk.MissReason.absent: 2], "))
    #expect(disk.hasSuffix("foreignCount: 0, isDirectoryUnsafe: false)"))
    #expect(text.contains(disk))
  }

  private var isHalf: Bool { cache.statistics.hitRate == 0.5 }
}

extension `The share of hits` {
  @Test func `a load is one miss, and what it loaded is a hit`() async throws {
    _ = try await cache.value(forKey: "k") { "new" }
    #expect(cache.statistics.hitRate == 0)
    _ = try await cache.value(forKey: "k") { "newer" }
    #expect(isHalf && cache.statistics.disk.missCount == 2)
    #expect(cache.statistics.hitCount == 1 && cache.statistics.missCount == 1)
  }

  @Test func `a load that is told of an expired value is one miss`() async throws {
    for _ in 0..<4 {
      for _ in 0..<2 {
        _ = try await cache.value(forKey: "k") { previous in
          previous == nil
            ? .value("new", expiration: .seconds(10)) : .notModified(expiration: .seconds(10))
        }
      }
      #expect(isHalf)
      scene.clock.advance(by: .seconds(10))
    }
    #expect(cache.statistics.loads.renewed == 3)
  }

  @Test func `an expired value that is served is a hit, and its refresh counts nothing`()
    async throws
  {
    try cache.storeNow("old", forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(10))
    let served = try await cache.value(
      forKey: "k", options: .staleWhileRevalidating(.seconds(60))
    ) { _ in .value("new") }
    #expect(served == "old" && cache.statistics.hitRate == 1)
    try await eventually("the end of the refresh") { () async in
      cache.statistics.loads.succeeded == 1
    }
    #expect(cache.statistics.hitRate == 1)
    _ = try await cache.value(forKey: "other", options: .staleWhileRevalidating(.seconds(60))) {
      "new"
    }
    #expect(isHalf)
  }

  @Test func `an expired value instead of an error is a hit, and an error a miss`() async throws {
    try cache.storeNow("old", forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(10))
    for _ in 0..<2 {
      for key in ["k", "none"] {
        do {
          _ = try await cache.value(forKey: key, options: .staleIfFailing(.seconds(60))) {
            throw Failure()
          }
          #expect(key == "k")
        } catch is Failure {
          #expect(key == "none")
        }
      }
      #expect(isHalf)
    }
  }

  @Test func `a forced load counts nothing`() async throws {
    _ = try await cache.value(forKey: "k") { "new" }
    _ = try await cache.value(forKey: "k") { "newer" }
    for _ in 0..<3 {
      _ = try await cache.value(forKey: "k", options: .reload) { "forced" }
      _ = try await cache.value(forKey: "k", options: .reload) { _ in .notModified() }
    }
    #expect(isHalf)
  }

  @Test func `a value that does not decode is a miss`() async throws {
    try await cache.store("there", forKey: "k")
    _ = try await cache.value(forKey: "k")
    try await cache.disk.store([0xff], forKey: "odd")
    _ = try await cache.value(forKey: "odd")
    #expect(isHalf)
    _ = try await cache.value(forKey: "k")
    _ = try await cache.value(forKey: "odd") { "new" }
    #expect(isHalf)
    try await cache.disk.store([0xff], forKey: "odd")
    _ = try await cache.value(forKey: "k")
    _ = try await cache.value(forKey: "odd") { .value($0 == nil ? "new" : "old") }
    #expect(isHalf)
  }

  @Test func `a call that asks memory alone counts once`() async throws {
    _ = try await cache.value(forKey: "k", options: .memoryOnly) { "new" }
    #expect(cache.statistics.hitRate == 0)
    _ = try await cache.value(forKey: "k", options: .memoryOnly) { "newer" }
    #expect(isHalf)
    _ = try await cache.value(forKey: "other", options: .memoryOnly)
    _ = try await cache.value(forKey: "k")
    #expect(isHalf)
  }

  @Test func `a load of a file is a miss for each caller, and what it wrote is a hit`()
    async throws
  {
    let (cache, gate) = (cache, AsyncGate())
    let tasks = (0..<5).map { _ in
      Task {
        try await cache.withFile(forKey: "k", { $0.byteCount }) { writer in
          await gate.wait()
          try await writer.write([1, 2])
        }
      }
    }
    while cache.fileFlights.waiterCount < 5 { await Task.yield() }
    gate.open()
    for task in tasks { #expect(try await task.value == 2) }
    #expect(cache.statistics.hitCount == 0 && cache.statistics.missCount == 5)
    for _ in 0..<5 { _ = try await cache.withFile(forKey: "k", { $0.byteCount }) { _ in } }
    #expect(isHalf)
    for _ in 0..<2 {
      await #expect(throws: Failure.self) {
        _ = try await cache.withFile(
          forKey: "other", { (_: borrowing EntryFile) in throw Failure() }
        ) { try await $0.write([1]) }
      }
    }
    #expect(isHalf)
    await #expect(throws: Failure.self) {
      try await cache.withFile(forKey: "none", { $0.byteCount }) { _ in throw Failure() }
    }
    let loads = cache.statistics.loads
    #expect([loads.started, loads.succeeded, loads.failed, loads.joined] == [3, 2, 1, 4])
    #expect(loads.time > .zero)
  }

  @Test func `a load of many callers is a miss for each`() async throws {
    let (cache, gate) = (cache, AsyncGate())
    let tasks = (0..<5).map { _ in
      Task {
        try await cache.value(forKey: "k") {
          await gate.wait()
          return "new"
        }
      }
    }
    while cache.flights.waiterCount < 5 { await Task.yield() }
    gate.open()
    for task in tasks { _ = try await task.value }
    for _ in 0..<5 { _ = try await cache.value(forKey: "k") }
    #expect(isHalf)
  }
}
