import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

struct MemoryExpiryTests {
  typealias Cache = MemoryCache<String, Int>
  let clock = ManualClock(Timestamp(seconds: 1_000_000))

  private func cache(_ change: (inout Cache.Configuration) -> Void = { _ in }) -> Cache {
    var configuration = Cache.Configuration()
    configuration.clock = clock.wallClock
    change(&configuration)
    return Cache(configuration)
  }

  /// A key that does something when it is hashed, which is after a look has read the time.
  private struct Key: Hashable, Sendable {
    let act = Shared<(@Sendable () -> Void)?>(nil)

    static func == (one: Key, other: Key) -> Bool { true }

    func hash(into hasher: inout Hasher) {
      let act = act.value
      self.act.value = nil
      act?()
    }
  }

  @Test func `a look that began before any value could expire finds none that has expired`() {
    for isPeek in [false, true] {
      var configuration = MemoryCache<Key, Int>.Configuration()
      configuration.clock = clock.wallClock
      let (cache, key) = (MemoryCache(configuration), Key())
      key.act.value = { [clock] in
        cache.store(1, forKey: Key(), expiration: .seconds(2))
        clock.advance(by: .seconds(2))
      }
      #expect(isPeek ? cache.peek(key) == nil : !cache.contains(key))
    }
  }

  @Test(arguments: [
    (Expiration.never, 1_000_000_000, true),
    (.seconds(10), 9, true),
    (.seconds(10), 10, false),
    (.days(1), 86_399, true),
    (.days(1), 86_400, false),
    (.date(Timestamp(seconds: 1_000_005)), 4, true),
    (.date(Timestamp(seconds: 1_000_005)), 5, false),
    (.seconds(.max), 4_000_000_000, true),
    (.date(.never), 9_000_000_000, true),
  ])
  func `a value lives until its expiry and not at it`(
    _ expiration: Expiration, _ seconds: Int64, _ lives: Bool
  ) {
    let cache = cache()
    #expect(cache.store(1, forKey: "a", expiration: expiration) == .stored)
    clock.advance(by: .seconds(seconds))
    #expect(cache.contains("a") == lives)
    #expect((cache.peek("a") != nil) == lives)
    #expect(cache.keys.isEmpty == !lives)
    #expect(cache.count == 1)
    #expect((cache.value(forKey: "a") != nil) == lives)
    #expect(cache.count == (lives ? 1 : 0))
    cache.checkInvariants()
  }

  @Test
  func `what never expires stays when the clock is past the time that means never`() {
    let cache = cache()
    cache.store(1, forKey: "a", expiration: .never)
    // Makes the cache keep times.
    cache.store(2, forKey: "b", expiration: .seconds(10))
    clock.now = Timestamp(seconds: Timestamp.never.seconds + 10)
    #expect(cache.value(forKey: "a") == 1 && cache.value(forKey: "b") == nil)
    #expect(cache.store(3, forKey: "c", expiration: .never) == .stored)
    cache.removeExpired()
    #expect(cache.count == 2 && cache.value(forKey: "c") == 3)
    cache.checkInvariants()
  }

  @Test
  func `an expiry is exact to the nanosecond`() {
    let cache = cache()
    let expiry = Timestamp(seconds: 1_000_001, nanoseconds: 500_000_001)
    cache.store(1, forKey: "a", expiration: .date(expiry))
    clock.now = Timestamp(seconds: 1_000_001, nanoseconds: 500_000_000)
    #expect(cache.contains("a"))
    clock.now = expiry
    #expect(!cache.contains("a"))
  }

  @Test(arguments: [
    Expiration.expired, .seconds(0), .seconds(-5), .days(-1), .date(Timestamp(seconds: 1_000_000)),
    .date(Timestamp(seconds: -1)),
  ])
  func `storing what has expired removes what was there`(_ expiration: Expiration) {
    let cache = cache()
    cache.store(1, forKey: "a")
    #expect(cache.store(2, forKey: "a", expiration: expiration) == .rejected(.expired))
    #expect(cache.count == 0)
    #expect(cache.statistics.rejections[.expired, default: 0] == 1)
    #expect(cache.statistics.removals[.replaced, default: 0] == 1)
  }

  @Test(
    arguments: [
      (ExpirationExtending.off, Expiration.seconds(10), 10),
      (.lifetime, .seconds(10), 16),
      (.lifetime, .date(Timestamp(seconds: 1_000_010)), 10),
      (.to(.seconds(100)), .seconds(10), 106),
      (.to(.seconds(1)), .seconds(10), 10),
      (.to(.seconds(100)), .date(Timestamp(seconds: 1_000_010)), 10),
      (.to(.date(Timestamp(seconds: 1_000_050))), .seconds(10), 50),
    ] as [(ExpirationExtending, Expiration, Int64)])
  func `a use after six seconds moves the expiry`(
    _ extending: ExpirationExtending, _ expiration: Expiration, _ end: Int64
  ) {
    let cache = cache()
    cache.store(1, forKey: "a", expiration: expiration)
    clock.advance(by: .seconds(6))
    #expect(cache.value(forKey: "a", extending: extending) == 1)
    clock.now = Timestamp(seconds: 1_000_000 + end, nanoseconds: -1)
    #expect(cache.contains("a"))
    clock.now = Timestamp(seconds: 1_000_000 + end)
    #expect(!cache.contains("a"))
  }

  @Test
  func `the configuration says how a use extends and how long a value lives`() {
    let cache = cache {
      $0.expiration = .seconds(10)
      $0.extending = .off
    }
    cache.store(1, forKey: "a")
    cache.store(2, forKey: "b", expiration: .never)
    clock.advance(by: .seconds(9))
    #expect(cache.value(forKey: "a") == 1)
    clock.advance(by: .seconds(1))
    #expect(cache.value(forKey: "a") == nil)
    #expect(cache.value(forKey: "b") == 2)
  }

  @Test
  func `an expired value that is read is a miss of its own kind`() {
    let cache = cache()
    cache.store(1, forKey: "a", expiration: .seconds(1))
    clock.advance(by: .seconds(1))
    #expect(cache.value(forKey: "a") == nil)
    #expect(cache.value(forKey: "a") == nil)
    let counted = cache.statistics
    #expect(counted.missesExpired == 1)
    #expect(counted.missesAbsent == 1)
    #expect(counted.removals[.expired, default: 0] == 1)
  }

  @Test
  func `removing what has expired was not there`() {
    let cache = cache()
    cache.store(1, forKey: "a", expiration: .seconds(1))
    clock.advance(by: .seconds(2))
    #expect(!cache.remove(forKey: "a"))
    #expect(cache.count == 0)
  }

  @Test
  func `a sweep removes what has expired and nothing else`() {
    let cache = cache()
    for number in 1...20 {
      cache.store(number, forKey: "\(number)", expiration: .seconds(number))
    }
    #expect(cache.removeExpired() == 0)
    clock.advance(by: .seconds(12))
    #expect(cache.removeExpired() == 12)
    #expect(cache.removeExpired() == 0)
    #expect(cache.values == Array((13...20).reversed()))
    cache.checkInvariants()
    clock.advance(by: .seconds(100))
    #expect(cache.trim(toCount: 50) == 8)
  }

  @Test
  func `expired values go before the least recently used`() {
    let cache = cache { $0.countLimit = 4 }
    cache.store(1, forKey: "old")
    cache.store(2, forKey: "brief", expiration: .seconds(1))
    cache.store(3, forKey: "c")
    cache.store(4, forKey: "d")
    clock.advance(by: .seconds(1))
    cache.store(5, forKey: "e")
    #expect(cache.keys == ["e", "d", "c", "old"])
    #expect(cache.statistics.removals[.evicted, default: 0] == 0)
  }

  @Test
  func `an age limit goes by the last use`() {
    let cache = cache { $0.ageLimit = .seconds(10) }
    cache.store(1, forKey: "a")
    cache.store(2, forKey: "b")
    clock.advance(by: .seconds(6))
    #expect(cache.value(forKey: "a") == 1)
    clock.advance(by: .seconds(4))
    #expect(cache.value(forKey: "b") == nil)
    #expect(cache.value(forKey: "a") == 1)
    clock.advance(by: .milliseconds(9_999))
    #expect(cache.contains("a"))
    clock.advance(by: .milliseconds(1))
    #expect(!cache.contains("a"))
    #expect(cache.removeExpired() == 1)
  }

  @Test
  func `an age limit that is set later counts from then, and lowering it takes effect`() {
    let cache = cache()
    cache.store(1, forKey: "a")
    clock.advance(by: .seconds(1_000))
    cache.ageLimit = .seconds(10)
    #expect(cache.contains("a"))
    clock.advance(by: .seconds(5))
    cache.store(2, forKey: "b")
    cache.ageLimit = .seconds(5)
    #expect(cache.keys == ["b"])
    #expect(cache.count == 1)
    cache.ageLimit = .zero
    #expect(cache.count == 0)
    #expect(cache.store(3, forKey: "c") == .rejected(.expired))
    cache.checkInvariants()
  }

  @Test
  func `a trim to an age removes what was used that long ago`() {
    let cache = cache { $0.recordsUseTimes = true }
    for number in 0..<5 {
      cache.store(number, forKey: "\(number)")
      clock.advance(by: .seconds(1))
    }
    #expect(cache.trim(toAge: .seconds(3)) == 3)
    #expect(cache.values == [4, 3])
    #expect(cache.trim(toAge: .zero) == 2)
  }

  @Test
  func `without recorded times the first trim to an age starts the record`() {
    let cache = cache()
    cache.store(1, forKey: "a")
    clock.advance(by: .seconds(100))
    #expect(cache.trim(toAge: .seconds(50)) == 0)
    clock.advance(by: .seconds(50))
    #expect(cache.trim(toAge: .seconds(50)) == 1)
  }

  @Test
  func `a clock that was set back makes nothing older than it is`() {
    let cache = cache { $0.ageLimit = .seconds(10) }
    cache.store(1, forKey: "a", expiration: .seconds(60))
    clock.advance(by: .seconds(-500_000))
    #expect(cache.value(forKey: "a") == 1)
    #expect(cache.trim(toAge: .seconds(5)) == 0)
    clock.advance(by: .seconds(10))
    #expect(cache.value(forKey: "a") == nil)
    cache.checkInvariants()
  }

  @Test
  func `the clock is read only when a value can expire`() {
    let reads = RemovalLog()
    let time = clock
    let cache = cache {
      $0.clock = WallClock {
        reads.append("read")
        return time.now
      }
    }
    let atStart = reads.total
    for _ in 0..<10 {
      cache.store(1, forKey: "a")
      _ = cache.value(forKey: "a")
      _ = cache.contains("a")
      cache.remove(forKey: "a")
    }
    #expect(reads.total == atStart)
    cache.store(1, forKey: "b", expiration: .seconds(5))
    _ = cache.value(forKey: "a")
    #expect(reads.total > atStart)
  }

  @Test func `trimming by age passes over uses that a clock set back has left in the future`() {
    let cache = cache { $0.recordsUseTimes = true }
    for key in ["a", "b"] { cache.store(1, forKey: key) }
    clock.advance(by: .seconds(-500))
    for key in ["c", "d"] { cache.store(1, forKey: key) }
    clock.advance(by: .seconds(100))
    cache.store(1, forKey: "e")
    // They were used before their successor in the order, so they are at least as old.
    #expect(cache.trim(toAge: .seconds(101)) == 0)
    #expect(cache.trim(toAge: .seconds(50)) == 4)
    #expect(cache.keys == ["e"])
    clock.advance(by: .seconds(-500))
    // Without a successor it counts as used now, and ages from then on.
    #expect(cache.trim(toAge: .seconds(1)) == 0)
    clock.advance(by: .seconds(2))
    #expect(cache.trim(toAge: .seconds(1)) == 1)
    cache.checkInvariants()
  }
}
