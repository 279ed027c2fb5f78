import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The options that change one call.
@Suite(.watched)
struct `Options of one call` {
  let scene: DiskScene
  let cache: Cache<String>

  struct Failure: Error, Equatable {}

  init() throws {
    scene = try DiskScene()
    cache = try scene.open(.string) { $0.disk.expiredGrace = .seconds(3600) }
  }
}

extension `Options of one call` {
  @Test func `a list joins them, and the longer time holds`() {
    let options: LoadOptions = [
      .reload, .diskOnly, .staleIfFailing(.seconds(5)), .staleIfFailing(.seconds(3)),
      .extending(.off),
    ]
    #expect(options.reloads && options.isDiskOnly && !options.isCacheOnly)
    #expect(options.staleIfFailing == .seconds(5) && options.extending == .off)
    #expect([] as LoadOptions == LoadOptions())
  }

  @Test func `of two extensions the later in the list holds`() {
    let first: LoadOptions = [.extending(.lifetime), .extending(.off), .reload]
    let second: LoadOptions = [.extending(.off), .extending(.lifetime)]
    #expect(first.extending == .off && second.extending == .lifetime)
  }

  @Test func `each tier alone answers where it is asked alone`() throws {
    try cache.store("disk", forKey: "k")
    cache.memory.removeAll()
    #expect(try cache.value(forKey: "k", options: .memoryOnly) == nil)
    #expect(try cache.value(forKey: "k", options: .diskOnly) == "disk")
    #expect(try cache.tier(forKey: "k") == .disk)
    #expect(try cache.value(forKey: "k", options: []) == "disk")
    #expect(try cache.value(forKey: "k", options: .memoryOnly) == "disk")
  }

  @Test func `each tier alone answers an asynchronous call as well`() async throws {
    try await cache.store("disk", forKey: "k")
    cache.memory.removeAll()
    #expect(try await cache.value(forKey: "k", options: .memoryOnly) == nil)
    #expect(try await cache.value(forKey: "k", options: .diskOnly) == "disk")
    #expect(try await cache.value(forKey: "k", options: []) == "disk")
    #expect(try await cache.value(forKey: "k", options: .memoryOnly) == "disk")
  }

  @Test func `an expired value answers where that is allowed, and is not kept in memory`() throws {
    try cache.store("old", forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(10))
    #expect(try cache.value(forKey: "k", options: []) == nil)
    #expect(try cache.value(forKey: "k", options: .allowingExpired) == "old")
    #expect(try cache.tier(forKey: "k") == nil)
  }

  @Test func `an expired value that is allowed is not loaded again`() async throws {
    try await cache.store("old", forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(10))
    let value = try await cache.value(forKey: "k", options: .allowingExpired) { throw Failure() }
    #expect(value == "old")
  }

  @Test func `a read that does not extend leaves the expiry as it is`() throws {
    for (options, seconds) in [(LoadOptions.extending(.off), 400), ([], 1000)] {
      try cache.store("v", forKey: "k", expiration: .seconds(1000))
      cache.memory.removeAll()
      scene.clock.advance(by: .seconds(600))
      _ = try cache.value(forKey: "k", options: options)
      try cache.flush()
      let expiry = try #require(try cache.disk.entry(forKey: "k")?.expiry)
      #expect(expiry == scene.clock.now.adding(seconds: Int64(seconds)))
    }
  }

  @Test func `a call that must not load throws where nothing is there`() async throws {
    await #expect {
      try await cache.value(forKey: "k", options: .cacheOnly) { "loaded" }
    } throws: {
      ($0 as? CacheError)?.code == .notCached
    }
    try await cache.store("there", forKey: "k", expiration: .seconds(10))
    #expect(try await cache.value(forKey: "k", options: .cacheOnly) { "loaded" } == "there")
    scene.clock.advance(by: .seconds(10))
    let options: LoadOptions = [.cacheOnly, .staleWhileRevalidating(.seconds(60))]
    #expect(try await cache.value(forKey: "k", options: options) { "loaded" } == "there")
    #expect(cache.statistics.loads.started == 0)
  }

  @Test func `a reload loads although a value is there, once for all who ask for it`() async throws
  {
    let (cache, gate, loads) = (cache, AsyncGate(), Counter())
    try await cache.store("old", forKey: "k")
    let tasks = (0..<10).map { _ in
      Task {
        try await cache.value(forKey: "k", options: .reload) {
          loads.add()
          await gate.wait()
          return "new"
        }
      }
    }
    while cache.flights.waiterCount < 10 { await Task.yield() }
    #expect(try await cache.value(forKey: "k") { "unused" } == "old")
    gate.open()
    for task in tasks { #expect(try await task.value == "new") }
    #expect(loads.value == 1)
    #expect(try await cache.value(forKey: "k") == "new")
  }

  @Test func `a load for one tier stays in it, and leaves nothing older in the other`() async throws
  {
    try await cache.store("old", forKey: "k")
    let options: LoadOptions = [.memoryOnly, .reload]
    #expect(try await cache.value(forKey: "k", options: options) { "memory" } == "memory")
    #expect(try await cache.tier(forKey: "k") == .memory)
    #expect(try scene.names == [])
    let onDisk = try await cache.value(forKey: "k", options: [.diskOnly, .reload]) { "disk" }
    #expect(onDisk == "disk")
    #expect(try await cache.tier(forKey: "k") == .disk)
    #expect(try await cache.value(forKey: "k") == "disk")
  }

  @Test func `a load for memory alone is kept by a cache that only reads`() async throws {
    try await cache.store("old", forKey: "k")
    let (reader, loads) = (try scene.open(.string) { $0.disk.mode = .readOnly }, Counter())
    for _ in 0..<2 {
      let value = try await reader.value(forKey: "k", options: .memoryOnly) {
        loads.add()
        return "memory"
      }
      #expect(value == "memory")
    }
    #expect(loads.value == 1)
    #expect(reader.statistics.loads.unstored == 0)
    #expect(reader.statistics.disk.upkeepFailures == [:])
    #expect(try await reader.value(forKey: "k", options: .diskOnly) == "old")
  }

  @Test func `a load for memory alone is not kept over a store since it began`() async throws {
    let cache = cache
    let value = try await cache.value(forKey: "k", options: .memoryOnly) {
      try cache.storeNow("newer", forKey: "k")
      return "loaded"
    }
    #expect(value == "loaded")
    #expect(try await cache.value(forKey: "k") == "newer")
    #expect(try await cache.value(forKey: "k", options: .diskOnly) == "newer")
  }

  @Test func `an expired value is served for a while where the load fails`() async throws {
    let options: LoadOptions = [
      .staleIfFailing(.seconds(60)), .keepingFailures(for: .seconds(5)),
    ]
    try await cache.store("old", forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(69))
    let loads = Counter()
    for _ in 0..<3 {
      let value = try await cache.value(forKey: "k", options: options) {
        loads.add()
        throw Failure()
      }
      #expect(value == "old")
    }
    #expect(loads.value == 1)
    #expect(cache.statistics.loads.servedStale == 3 && cache.statistics.loads.servedFailures == 0)
    scene.clock.advance(by: .seconds(1))
    await #expect(throws: Failure.self) {
      try await cache.value(forKey: "k", options: options) { throw Failure() }
    }
  }

  @Test(arguments: [[.memoryOnly, .diskOnly], [.reload, .cacheOnly]] as [LoadOptions])
  func `what contradicts itself is an error, in every spelling`(options: LoadOptions) async throws {
    try cache.storeNow("v", forKey: "k")
    func blocking() throws { _ = try cache.value(forKey: "k", options: options) }
    var errors = [#expect(throws: CacheError.self) { try blocking() }]
    errors.append(
      await #expect(throws: CacheError.self) {
        try await cache.value(forKey: "k", options: options)
      })
    errors.append(
      await #expect(throws: CacheError.self) {
        try await cache.value(forKey: "k", options: options) { "loaded" }
      })
    errors.append(
      await #expect(throws: CacheError.self) {
        try await cache.value(forKey: "k", options: options) { _ in .value("loaded") }
      })
    for error in errors {
      #expect(
        error?.code == .invalidArgument && error?.underlying?.contains("a call cannot") == true)
    }
  }

  @Test func `keyed calls of the cache keep the promises of the disk's`() throws {
    try cache.store("v", forKey: "k", expiration: .seconds(10), extendedData: [1])
    #expect(try cache.read(forKey: "k")?.extendedData == [1])
    #expect(try cache.touch(forKey: "k", expiration: .seconds(5)))
    scene.clock.advance(by: .seconds(5))
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try cache.read(forKey: "k") == nil && cache.disk.entry(forKey: "k") == nil)
    #expect(try cache.read(forKey: "k", allowingExpired: true)?.hasExpired == true)
    #expect(try cache.disk.entry(forKey: "k", allowingExpired: true)?.byteCount == 1)
    #expect(try !cache.touch(forKey: "k"))
    #expect(try cache.touch(forKey: "k", allowingExpired: true))
    #expect(try cache.value(forKey: "k") == "v")
  }
}
