import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The limit for one value in memory.
@Suite(.watched)
struct `A limit for one value in memory` {
  let scene: DiskScene
  let small = [UInt8](repeating: 1, count: 10)
  let large = [UInt8](repeating: 2, count: 11)

  init() throws {
    scene = try DiskScene()
  }
}

extension `A limit for one value in memory` {
  private func open(
    _ limit: CacheConfiguration.EntryCostLimit = .bytes(10)
  ) throws -> Cache<[UInt8]> {
    try scene.open(.bytes) { $0.memoryEntryCostLimit = limit }
  }

  @Test func `a larger value is stored and read, and only its file holds it`() throws {
    let cache = try open()
    #expect(try cache.store(large, forKey: "k") == .stored)
    #expect(try cache.tier(forKey: "k") == .disk)
    for _ in 0..<2 { #expect(try cache.value(forKey: "k") == large) }
    #expect(try cache.tier(forKey: "k") == .disk)
    #expect(cache.memory.count == 0 && cache.statistics.disk.hits == 2)
  }

  @Test func `a value of just the limit is kept when it is stored and when it is read`() throws {
    let cache = try open()
    try cache.store(small, forKey: "k")
    #expect(try cache.tier(forKey: "k") == .memory)
    cache.memory.removeAll()
    #expect(try cache.value(forKey: "k") == small)
    #expect(try cache.tier(forKey: "k") == .memory)
  }

  @Test func `a larger value takes the place of one in memory`() throws {
    let cache = try open()
    try cache.store(small, forKey: "k")
    try cache.store(large, forKey: "k")
    #expect(cache.memory.count == 0)
    #expect(try cache.value(forKey: "k") == large)
    try cache.store(small, forKey: "k")
    #expect(try cache.tier(forKey: "k") == .memory)
    #expect(try cache.value(forKey: "k") == small)
  }

  @Test func `many tasks that miss a larger value make one load, and later ones none`()
    async throws
  {
    let (cache, large, counter) = (try open(), large, Counter())
    for _ in 0..<2 {
      try await withThrowingTaskGroup(of: [UInt8].self) { group in
        for _ in 0..<100 {
          group.addTask {
            try await cache.value(forKey: "k") {
              counter.add()
              for _ in 0..<100 { await Task.yield() }
              return large
            }
          }
        }
        for try await value in group { #expect(value == large) }
      }
    }
    #expect(counter.value == 1)
    #expect(cache.memory.count == 0)
  }

  @Test func `a larger value that is renewed stays out of memory`() async throws {
    let (cache, large) = (try open(), large)
    try await cache.store(large, forKey: "k", expiration: .seconds(10))
    let renewed = try await cache.value(forKey: "k", options: .reload) { previous in
      #expect(previous?.value == large)
      return .notModified(expiration: .seconds(20))
    }
    #expect(renewed == large && cache.memory.count == 0)
    #expect(cache.statistics.loads.renewed == 1)
  }

  @Test func `a value that memory alone has may be larger, until one is stored on disk`()
    async throws
  {
    let (cache, large) = (try open(), large)
    let value = try await cache.value(forKey: "k", options: .memoryOnly) { large }
    #expect(value == large)
    #expect(try await cache.tier(forKey: "k") == .memory)
    let other = large.map { $0 + 1 }
    try await cache.store(other, forKey: "k")
    #expect(cache.memory.count == 0)
    #expect(try await cache.value(forKey: "k") == other)
  }

  @Test func `the default holds for values that are bytes, and for no other coder`() throws {
    let limit = 512 << 10
    let plain = try open(.automatic)
    for (count, tier) in [(limit, CacheTier.memory), (limit + 1, .disk)] {
      try plain.store([UInt8](repeating: 0, count: count), forKey: "k")
      #expect(try plain.tier(forKey: "k") == tier)
    }
    let text = try scene.open(.string)
    try text.store(String(repeating: " ", count: limit + 1), forKey: "t")
    #expect(try text.tier(forKey: "t") == .memory)
    let unlimited = try open(.unlimited)
    try unlimited.store([UInt8](repeating: 0, count: limit + 1), forKey: "u")
    #expect(try unlimited.tier(forKey: "u") == .memory)
  }
}
