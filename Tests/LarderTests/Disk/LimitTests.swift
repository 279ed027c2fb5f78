import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct `Limits` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `Limits` {
  private func value(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

  /// Stores values under "0", "1" and so on, a second apart.
  private func fill(_ cache: DiskCache, _ range: Range<Int>, _ byteCount: Int) throws {
    _ = try cache.count()
    for number in range {
      scene.clock.advance(by: .seconds(1))
      try cache.store(value(byteCount), forKey: "\(number)")
    }
    try cache.flush()
  }

  @Test func `at the limit nothing goes; above it all goes down to half`() throws {
    let cache = try scene.open { $0.sizeLimit = 1000 }
    try fill(cache, 0..<10, 100)
    #expect(try cache.count() == 10)
    #expect(cache.statistics.purges == 0)
    try fill(cache, 10..<11, 1)
    #expect(try cache.totalSize() == 401)
    #expect(try cache.contains("10") && cache.contains("6") && !cache.contains("5"))
    #expect(cache.statistics.purges == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `expired entries go first`() throws {
    let cache = try scene.open { $0.sizeLimit = 1000 }
    try fill(cache, 0..<5, 100)
    try cache.store(value(100), forKey: "short", expiration: .seconds(10))
    try fill(cache, 5..<8, 100)
    scene.clock.advance(by: .seconds(100))
    try fill(cache, 9..<10, 50)
    #expect(try cache.count() == 10)
    try fill(cache, 10..<11, 100)
    #expect(cache.statistics.removals[.expired] == 1)
    #expect(try !cache.contains("short"))
    #expect(try cache.totalSize() == 450)
  }

  @Test func `the entry that passes the limit is never the victim`() throws {
    let cache = try scene.open { $0.sizeLimit = 1000 }
    try fill(cache, 0..<5, 100)
    try fill(cache, 5..<6, 1000)
    #expect(try cache.contains("5"))
    #expect(try cache.count() == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a value larger than the limit is rejected and removes the old`() throws {
    let cache = try scene.open { $0.sizeLimit = 1000 }
    try cache.store(value(10), forKey: "k")
    #expect(try cache.store(value(1001), forKey: "k") == .rejected(.tooLarge))
    #expect(try cache.value(forKey: "k") == nil)
    try cache.store(value(10), forKey: "k")
    let outcome = try cache.store(forKey: "k") { stream in
      for _ in 0..<11 { try stream.write(value(100)) }
    }
    #expect(outcome == .rejected(.tooLarge))
    #expect(try scene.names == [])
    #expect(try cache.storeIfAbsent(value(1001), forKey: "k") == .rejected(.tooLarge))
  }

  @Test func `a limit of 0 stores nothing, no limit stores all`() throws {
    let cache = try scene.open { $0.sizeLimit = 0 }
    #expect(try cache.store([], forKey: "k") == .rejected(.tooLarge))
    #expect(try cache.store([1], forKey: "k") == .rejected(.tooLarge))
    try cache.close()
    let unlimited = try scene.open { $0.sizeLimit = nil }
    try fill(unlimited, 0..<50, 1000)
    #expect(try unlimited.count() == 50)
  }

  @Test func `the number of entries is limited`() throws {
    let cache = try scene.open { $0.countLimit = 10 }
    try fill(cache, 0..<10, 1)
    #expect(try cache.count() == 10)
    try fill(cache, 10..<11, 1)
    #expect(try cache.count() == 5)
    #expect(try cache.contains("10") && cache.contains("6") && !cache.contains("5"))
    try cache.close()
    let none = try scene.open { $0.countLimit = 0 }
    #expect(try none.store([1], forKey: "k") == .rejected(.tooLarge))
  }

  @Test func `several processes stay within a tenth of the number`() throws {
    let caches = try (0..<2).map { _ in
      let cache = try scene.open { ($0.countLimit, $0.coherence) = (100, .events) }
      // The next one has an engine of its own, as another process has. No thread watches for it.
      EngineRegistry.remove(cache.engine.location)
      try cache.engine.watching.open(cache.engine)
      cache.engine.watching.advance(to: .settled)
      cache.engine.watching.complete(true)
      return cache
    }
    for cache in caches { #expect(try cache.count() == 0) }
    for number in 0..<180 {
      try caches[number / 90].store([1], forKey: "\(number)")
      #expect(try scene.names.count <= 110)
    }
    for cache in caches { try cache.close() }
  }

  @Test func `what was not used for longer than the age limit goes with a sweep`() throws {
    let cache = try scene.open {
      $0.ageLimit = .seconds(100)
      $0.recencyGranularity = .zero
    }
    try fill(cache, 0..<3, 1)
    scene.clock.advance(by: .seconds(98))
    _ = try cache.value(forKey: "0")
    scene.clock.advance(by: .seconds(1))
    #expect(try cache.removeExpired().removed == 1)
    #expect(try cache.contains("0") && !cache.contains("1") && cache.contains("2"))
  }

  @Test func `free space that is missing is made, but not at the trigger's cost`() throws {
    let cache = try scene.open { ($0.freeSpaceLimit, $0.freeSpacePause) = (.max, .seconds(3_600)) }
    try fill(cache, 0..<1, 100)
    try fill(cache, 1..<2, 100)
    #expect(try cache.count() >= 1)
    #expect(try cache.contains("1"))
    #expect(cache.statistics.purges == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a value whose blocks exceed the limit is too large for it`() throws {
    let cache = try scene.open {
      $0.sizeLimit = 100
      $0.sizeMeasure = .allocatedBytes
    }
    #expect(try cache.store(value(50), forKey: "k") == .rejected(.tooLarge))
    #expect(try cache.store(forKey: "k") { try $0.write(value(50)) } == .rejected(.tooLarge))
    #expect(try cache.totalSize(.allocatedBytes) == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `allocated bytes are limited when that is the measure`() throws {
    let cache = try scene.open {
      $0.sizeLimit = 65_536
      $0.sizeMeasure = .allocatedBytes
    }
    try fill(cache, 0..<40, 1)
    #expect(try cache.totalSize(.allocatedBytes) <= 65_536)
    #expect(try cache.count() < 40)
    try scene.expectConsistent(cache)
  }

  @Test func `ties go by name`() throws {
    try scene.makeDirectory()
    let keys = (0..<20).map { "\($0)" }
    for key in keys { try scene.plant([1], named: scene.name(key).text) }
    let cache = try scene.open()
    #expect(try cache.trim(toCount: 7).removed == 13)
    #expect(try scene.names == Array(keys.map { scene.name($0).text }.sorted().suffix(7)))
  }

  @Test func `trims go to bytes, count and age`() throws {
    let cache = try scene.open()
    try fill(cache, 0..<10, 10)
    #expect(try cache.trim(toCost: 55).removed == 5)
    #expect(try cache.trim(toCount: 3).removed == 2)
    #expect(try cache.trim(toAge: .seconds(2)).removed == 1)
    let last = try cache.trim(toCost: 0)
    #expect(last.removed == 2 && last.byteCount == 20 && last.failed == 0)
    #expect(try cache.trim(toCost: 0) == BulkRemoval())
    #expect(try scene.names == [])
  }

  @Test(arguments: [0, 0.25, 1])
  func `the trim target is the share that stays`(target: Double) throws {
    let cache = try scene.open {
      $0.sizeLimit = 1000
      $0.trimTarget = target
    }
    try fill(cache, 0..<11, 100)
    #expect(try cache.totalSize() == max(100, Int(1000 * target) / 100 * 100))
  }

  @Test func `the admission hook sees every value, also the empty one`() throws {
    let cache = try scene.open { $0.shouldStore = { _, byteCount in byteCount == 2 } }
    #expect(try cache.store([], forKey: "k") == .rejected(.declined))
    #expect(try cache.store([1], forKey: "k") == .rejected(.declined))
    #expect(try cache.store([1, 2], forKey: "k") == .stored)
    #expect(try cache.store(forKey: "k") { try $0.write([1]) } == .rejected(.declined))
    #expect(try cache.value(forKey: "k") == nil)
  }
}
