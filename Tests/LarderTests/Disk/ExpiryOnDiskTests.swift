import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

struct `Expiry on disk` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  private func expiry(_ key: String) throws -> Timestamp {
    try scene.status(scene.name(key)).modification.asExpiry
  }

  @Test func `an entry is gone the moment its expiry comes`() throws {
    let cache = try scene.open()
    let end = scene.clock.now.adding(seconds: 100)
    try cache.store([1], forKey: "k", expiration: .date(end))
    scene.clock.now = end.adding(.nanoseconds(-1))
    #expect(try cache.value(forKey: "k") == [1])
    scene.clock.now = end
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try !cache.contains("k"))
    #expect(cache.statistics.misses == [.expired: 1])
    #expect(try cache.entries().map { $0.isExpired(at: scene.clock.now) } == [true])
    #expect(try cache.removeExpired().removed == 1)
    #expect(try scene.names == [])
  }

  @Test func `a use extends by the lifetime, at the next drain`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(1000))
    scene.clock.advance(by: .seconds(900))
    #expect(try cache.read(forKey: "k")?.expiry == scene.clock.now.adding(seconds: 1000))
    try cache.flush()
    #expect(try expiry("k") == scene.clock.now.adding(seconds: 1000))
    scene.clock.advance(by: .seconds(999))
    #expect(try cache.value(forKey: "k") == [1])
  }

  @Test func `a pending extension keeps the value alive before it is drained`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(1000))
    scene.clock.advance(by: .seconds(900))
    _ = try cache.value(forKey: "k")
    scene.clock.advance(by: .seconds(200))
    #expect(try cache.contains("k"))
    #expect(try cache.value(forKey: "k") == [1])
  }

  @Test func `a read is told no later expiry than the disk will have`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(10_000))
    let stored = try expiry("k")
    // Too soon for a stamp, so the expiry stays.
    scene.clock.advance(by: .seconds(60))
    #expect(try cache.read(forKey: "k")?.expiry == stored)
    scene.clock.advance(by: .seconds(1))
    let promised = scene.clock.now.adding(seconds: 10_000)
    #expect(try cache.read(forKey: "k")?.expiry == promised)
    scene.clock.advance(by: .seconds(1))
    #expect(try cache.read(forKey: "k", extending: .off)?.expiry == promised)
    #expect(try cache.entry(forKey: "k")?.expiry == promised)
    #expect(try cache.entries().map(\.expiry) == [promised])
    try cache.flush()
    #expect(try expiry("k") == promised)
  }

  @Test func `a sweep spares what a pending extension keeps alive`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(1000))
    _ = try cache.count()
    scene.clock.advance(by: .seconds(900))
    _ = try cache.value(forKey: "k")
    scene.clock.advance(by: .seconds(200))
    #expect(try cache.removeExpired().removed == 0)
    #expect(try cache.value(forKey: "k") == [1])
  }

  @Test func `a pending extension is dropped when somebody has changed the expiry`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(1000))
    scene.clock.advance(by: .seconds(900))
    _ = try cache.value(forKey: "k")
    let chosen = scene.clock.now.adding(seconds: 5)
    try scene.touch(scene.name("k"), access: nil, modification: chosen)
    try cache.flush()
    #expect(try expiry("k") == chosen)
    #expect(try scene.status(scene.name("k")).lastAccess >= scene.clock.now)
    scene.clock.advance(by: .seconds(5))
    #expect(try cache.value(forKey: "k") == nil)
  }

  @Test func `touching by hand expires at once, and extends by hand`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(1000))
    _ = try cache.value(forKey: "k")
    try scene.touch(scene.name("k"), access: scene.clock.now, modification: scene.clock.now)
    #expect(try cache.value(forKey: "k") == nil)
    let later = scene.clock.now.adding(seconds: 604_800)
    try scene.touch(scene.name("k"), access: nil, modification: later)
    #expect(try cache.read(forKey: "k")?.expiry == later)
  }

  @Test func `an entry that was expired by hand is swept without another scan`() throws {
    let cache = try scene.open()
    for key in ["k", "other"] { try cache.store([1], forKey: key) }
    #expect(try cache.count() == 2)
    try scene.touch(scene.name("k"), access: nil, modification: scene.clock.now)
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try cache.removeExpired().removed == 1)
    #expect(try cache.count() == 1)
    try scene.expectConsistent(cache)
  }

  private static let fixed: [Expiration] = [.date(Timestamp(seconds: 1_800_001_000)), .never]

  @Test(arguments: fixed, [ExpirationExtending.lifetime, .to(.seconds(999_999)), .off])
  func `a date never slides and never stays never`(
    expiration: Expiration, extending: ExpirationExtending
  ) throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "k", expiration: expiration)
    let before = try scene.status(scene.name("k")).modification
    scene.clock.advance(by: .seconds(500))
    for _ in 0..<3 {
      #expect(try cache.value(forKey: "k", extending: extending) == [1])
    }
    #expect(try scene.status(scene.name("k")).modification == before)
    #expect(before == (expiration == .never ? .never : Timestamp(seconds: 1_800_001_000)))
  }

  @Test func `an extension never moves the expiry earlier`() throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "k", expiration: .seconds(1000))
    let before = try expiry("k")
    _ = try cache.value(forKey: "k", extending: .to(.seconds(10)))
    #expect(try expiry("k") == before)
    _ = try cache.value(forKey: "k", extending: .to(.expired))
    #expect(try expiry("k") == before)
    _ = try cache.value(forKey: "k", extending: .off)
    #expect(try expiry("k") == before)
    scene.clock.advance(by: .seconds(-3600))
    _ = try cache.value(forKey: "k")
    #expect(try expiry("k") == before)
  }

  @Test(arguments: [Expiration.seconds(1), .days(1), .days(36_500), .never])
  func `lifetimes come back from the disk`(expiration: Expiration) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: expiration)
    let expected = expiration.expiry(at: scene.clock.now)
    try cache.close()
    let reopened = try scene.open()
    let entry = try #require(try reopened.entry(forKey: "k"))
    #expect(entry.expiry ?? .never == expected || entry.expiry == nil)
    #expect(entry.lifetime == Expiration(expiration.lifetime, until: entry.expiry ?? .never))
    #expect(try reopened.value(forKey: "k") == [1])
  }

  @Test(arguments: [Expiration.expired, .seconds(0), .seconds(-1), .date(Timestamp(seconds: 0))])
  func `what has expired already is not stored, and removes the old`(
    expiration: Expiration
  ) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    #expect(try cache.store([2], forKey: "k", expiration: expiration) == .rejected(.expired))
    #expect(try cache.value(forKey: "k") == nil)
    let outcome = try cache.store(forKey: "k", expiration: expiration) { _ in
      Issue.record("the writer of a rejected value ran")
    }
    #expect(outcome == .rejected(.expired))
    #expect(try scene.names == [])
    #expect(cache.statistics.rejections == [.expired: 2])
  }

  @Test(
    arguments: [
      -3600, 315_360_000, -1_800_000_001, -1_900_000_000, (1 << 31) - 1_800_000_000,
      (1 << 33) - 1_800_000_000, 1 << 40,
    ] as [Int64])
  func `no step of the clock loses what never expires, or traps`(step: Int64) throws {
    let cache = try scene.open { $0.sizeLimit = 1 << 30 }
    try cache.store([1], forKey: "never", expiration: .never)
    try cache.store([2], forKey: "hour", expiration: .seconds(3600))
    scene.clock.advance(by: .seconds(step))
    #expect(try cache.value(forKey: "never") == [1])
    #expect(try cache.value(forKey: "hour") == (step < 3600 ? [2] : nil))
    _ = try cache.store([3], forKey: "new", expiration: .never)
    #expect(try cache.value(forKey: "new") == [3])
    _ = try cache.removeExpired()
    #expect(try cache.value(forKey: "never") == [1])
    try scene.expectConsistent(cache)
    try cache.close()
    let reopened = try scene.open { $0.sizeLimit = 1 << 30 }
    #expect(try reopened.count() == (step < 3600 ? 3 : 2))
    #expect(try reopened.value(forKey: "never") == [1])
    try scene.expectConsistent(reopened)
  }
}
