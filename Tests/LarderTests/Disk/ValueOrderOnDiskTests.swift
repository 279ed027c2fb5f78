import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// The order of eviction by value with files: the uses that stamps have, and who goes.
struct `The least valuable on disk` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  private func open(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) throws
    -> DiskCache
  {
    try scene.open {
      $0.evictionOrder = .leastValuable
      $0.mode = .exclusive
      change(&$0)
    }
  }

  /// Returns the number of uses in the stamp of a key's file.
  private func stamped(_ key: String) throws -> Int32 {
    try scene.status(scene.name(key)).lastAccess.nanoseconds % 1_000
  }

  /// Returns the number of uses that a cache knows.
  private func known(_ key: String, _ cache: DiskCache) throws -> Int32 {
    _ = try cache.count()
    let entry = cache.engine.entryIndex.entry(named: DiskScene.name(of: Array(key.utf8)))
    return try #require(entry).lastAccess.nanoseconds % 1_000
  }

  @Test func `uses count at once in the index, and on disk with a stamp that is due`() throws {
    let cache = try open()
    try cache.store([1], forKey: "a")
    #expect(try stamped("a") == 0 && known("a", cache) == 0)
    for count in 1...2 as ClosedRange<Int32> {
      _ = try cache.value(forKey: "a")
      #expect(try known("a", cache) == count)
    }
    try cache.flush()
    #expect(try stamped("a") == 0 && cache.statistics.stampsWritten == 0)
    scene.clock.advance(by: .seconds(61))
    _ = try cache.value(forKey: "a")
    try cache.flush()
    #expect(try stamped("a") == 3)
    #expect(try scene.status(scene.name("a")).lastAccess.seconds == scene.clock.now.seconds)
    scene.clock.advance(by: .seconds(61))
    _ = try cache.value(forKey: "a")
    try cache.close()
    #expect(try stamped("a") == 3)
    #expect(try known("a", open()) == 3)
  }

  @Test func `what was used before the clock was set back is older than what was used since`()
    throws
  {
    let cache = try open()
    #expect(try cache.count() == 0)
    for key in ["a", "b", "e"] {
      try cache.store([1], forKey: CacheKey(key))
      scene.clock.advance(by: .seconds(100))
    }
    scene.clock.advance(by: .seconds(-7200))
    // In another class, by its length.
    for key in ["c", "d"] { try cache.store([1, 2], forKey: CacheKey(key)) }
    scene.clock.advance(by: .seconds(600))
    #expect(try cache.trim(toCount: 3).removed == 2)
    #expect(try ["c", "d", "e"].allSatisfy { try cache.contains(CacheKey($0)) })
  }

  @Test func `a read of what the index does not know yet counts on from the stamp`() throws {
    var cache = try open { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "a")
    _ = try cache.value(forKey: "a")
    try cache.close()
    cache = try open { $0.recencyGranularity = .zero }
    _ = try cache.value(forKey: "a")
    #expect(try stamped("a") == 2)
    #expect(try known("a", cache) == 2)
  }

  @Test func `a store over an entry keeps the number, and a new one begins at none`() throws {
    let cache = try open()
    try cache.store([1], forKey: "a")
    _ = try cache.value(forKey: "a")
    try cache.store([2, 2, 2, 2, 2], forKey: "a")
    #expect(try stamped("a") == 1 && known("a", cache) == 1)
    #expect(try cache.touch(forKey: "a"))
    #expect(try stamped("a") == 2 && known("a", cache) == 2)
    try cache.remove(forKey: "a")
    try cache.store([3], forKey: "a")
    #expect(try stamped("a") == 0 && known("a", cache) == 0)
  }

  @Test(arguments: [(2, 2), (3, 3), (4, 0), (1_001, 1), (123_456_789, 0)] as [(Int64, Int32)])
  func `what other programs stamp counts as none, unless it is a number`(
    nanoseconds: Int64, count: Int32
  ) throws {
    let cache = try open()
    try cache.store([1], forKey: "a")
    try cache.close()
    let time = Timestamp(seconds: scene.clock.now.seconds - 5, nanoseconds: nanoseconds)
    try scene.touch(scene.name("a"), access: time, modification: nil)
    let again = try open()
    _ = try again.count()
    _ = try again.value(forKey: "a")
    #expect(try known("a", again) == min(3, count + 1))
  }

  @Test func `a limit evicts the large and unused, and a restart knows who was used`() throws {
    var cache = try open { ($0.sizeLimit, $0.recencyGranularity) = (10_000, .zero) }
    let sizes = ["a": 100, "b": 3_000, "c": 3_000, "d": 3_000]
    for key in ["a", "b", "c", "d"] {
      try cache.store([UInt8](repeating: 1, count: sizes[key] ?? 0), forKey: key)
      scene.clock.advance(by: .seconds(10))
    }
    _ = try cache.value(forKey: "b")
    try cache.close()
    scene.clock.advance(by: .seconds(100))
    cache = try open { ($0.sizeLimit, $0.recencyGranularity) = (10_000, .zero) }
    _ = try cache.count()
    try cache.store([UInt8](repeating: 1, count: 1_500), forKey: "e")
    try cache.flush()
    #expect(cache.statistics.evictionOrder == .leastValuable)
    #expect(try ["a", "b", "c", "d", "e"].filter { try cache.contains($0) } == ["a", "b", "e"])
    try scene.expectConsistent(cache)
  }

  @Test(arguments: ["shared", "network", "watched", "exclusive", "default"])
  func `without word of others the order is that of use, and statistics say so`(
    kind: String
  ) throws {
    let cache = try open {
      if kind != "exclusive" { $0.mode = .shared }
      if kind == "watched" { $0.coherence = .events }
      if kind == "network" {
        $0.coherence = .events
        $0.fileSystem = FileSystemKind(name: "nfs", isNetwork: true)
      }
      if kind == "default" { $0.evictionOrder = .leastRecentlyUsed }
      $0.sizeLimit = 10_000
    }
    _ = try cache.count()
    for (key, size) in [("a", 100), ("b", 6_000), ("c", 100)] {
      try cache.store([UInt8](repeating: 1, count: size), forKey: key)
      scene.clock.advance(by: .seconds(10))
    }
    let isByValue = kind == "watched" || kind == "exclusive"
    #expect(
      cache.statistics.evictionOrder == (isByValue ? .leastValuable : .leastRecentlyUsed))
    try cache.trim(toCost: 6_150)
    #expect(try cache.contains("a") == isByValue)
    try cache.close()
  }

  @Test func `a hit in memory counts at once, and stamps nothing`() throws {
    let cache = try scene.open(Coder.bytes) {
      $0.disk.evictionOrder = .leastValuable
      $0.disk.mode = .exclusive
    }
    try cache.store([1], forKey: "a")
    _ = try cache.disk.count()
    for count in 1...2 as ClosedRange<Int32> {
      scene.clock.advance(by: .seconds(1))
      #expect(try cache.value(forKey: "a") == [1])
      #expect(try known("a", cache.disk) == count)
    }
    #expect(cache.statistics.memory.hits == 2)
    #expect(try cache.value(forKey: "a", options: LoadOptions()) == [1])
    try cache.flush()
    #expect(try stamped("a") == 0 && known("a", cache.disk) == 3)
    let last = cache.disk.engine.entryIndex.entry(named: DiskScene.name(of: [97]))?.lastAccess
    #expect(last?.seconds == scene.clock.now.seconds)
    try cache.close()
  }

  @Test func `uses of a value that waits to be written count`() throws {
    let cache = try open { $0.writeBehindLimit = 1 << 20 }
    _ = try cache.count()
    try cache.store([1], forKey: "a")
    _ = try cache.value(forKey: "a")
    _ = try cache.value(forKey: "a")
    try cache.flush()
    #expect(try known("a", cache) == 2)
    try cache.close()
  }

  @Test func `what a neighbour has used stays, and its uses are learned before it would go`() throws
  {
    let cache = try open { ($0.mode, $0.coherence) = (.shared, .events) }
    for key in ["a", "b"] { try cache.store([1], forKey: key) }
    _ = try cache.count()
    scene.clock.advance(by: .seconds(100))
    // No event tells of a stamp of the last access alone.
    let time = Timestamp(seconds: scene.clock.now.seconds - 5, nanoseconds: 2)
    try scene.touch(scene.name("a"), access: time, modification: nil)
    try cache.trim(toCount: 1)
    #expect(try known("a", cache) == 2)
    #expect(try scene.names == [scene.name("a").text])
    try cache.close()
  }

  @Test func `two processes that know other uses, and evict at once, stop at one target`() throws {
    let caches = try [scene.faults, nil].map { faults in
      let cache = try open { ($0.mode, $0.coherence, $0.faults) = (.shared, .events, faults) }
      // The next one has an engine of its own, as another process has. No thread watches for it.
      EngineRegistry.remove(cache.engine.location)
      try cache.engine.watching.open(cache.engine)
      cache.engine.watching.advance(to: .settled)
      cache.engine.watching.complete(true)
      return cache
    }
    for number in 0..<200 { try caches[0].store([1], forKey: "\(number)") }
    for cache in caches { _ = try cache.count() }
    for number in 0..<200 { _ = try caches[number / 100].value(forKey: "\(number)") }
    #expect(try known("0", caches[0]) == 1 && known("0", caches[1]) == 0)
    #expect(try known("150", caches[0]) == 0 && known("150", caches[1]) == 1)
    #expect(caches.allSatisfy { $0.statistics.evictionOrder == .leastValuable })
    // The second evicts as a whole before the fifth removal of the first, which looks around after
    // each sixteenth.
    let second = Shared<Result<Int, any Error>?>(nil)
    let evict: @Sendable () -> Void = {
      second.value = Result { try caches[1].trim(toCount: 100).removed }
    }
    scene.faults.plan(.before(evict), for: .unlinkat, at: 5)
    #expect(try caches[0].trim(toCount: 100).removed == 16)
    #expect(try second.value?.get() == 96)
    #expect(try scene.names.count == 88)
    for cache in caches { try cache.close() }
  }

  @Test func `objects on one directory have one order`() throws {
    let cache = try open()
    let error = #expect(throws: CacheError.self) {
      try open { $0.evictionOrder = .leastRecentlyUsed }
    }
    #expect(error.map { "\($0)".contains("evictionOrder") } == true)
    try cache.close()
  }
}
