import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// A value that calls a function when it is released.
final class ReleaseProbe: Sendable {
  private let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}

struct MemoryRemovalTests {
  typealias Cache = MemoryCache<Int, Int>
  let log = RemovalLog()
  let clock = ManualClock(Timestamp(seconds: 1_000))

  private func cache(count: Int? = nil) -> Cache {
    var configuration = Cache.Configuration(countLimit: count)
    configuration.clock = clock.wallClock
    configuration.extending = .lifetime
    configuration.removalListener = { [log] in log.append("\($0)=\($1) \($2)") }
    return Cache(configuration)
  }

  @Test
  func `the listener hears each cause`() {
    let cache = cache(count: 2)
    cache.store(1, forKey: 1)
    cache.store(10, forKey: 1)
    #expect(log.take() == ["1=1 replaced"])
    cache.store(2, forKey: 2, expiration: .seconds(1))
    cache.store(3, forKey: 3)
    #expect(log.take() == ["1=10 evicted"])
    clock.advance(by: .seconds(1))
    #expect(cache.value(forKey: 2) == nil)
    #expect(log.take() == ["2=2 expired"])
    cache.remove(forKey: 3, cause: .corrupt)
    #expect(log.take() == ["3=3 corrupt"])
    cache.store(4, forKey: 4)
    cache.remove(forKey: 4)
    #expect(log.take() == ["4=4 explicit"])
    for cause in RemovalCause.allCases { #expect(cache.statistics.removals[cause] == 1) }
    #expect(cache.statistics.removals.count == 5)
  }

  @Test
  func `removing everything tells of everything, the most recently used first`() {
    let cache = cache()
    for key in 0..<3 { cache.store(key, forKey: key) }
    #expect(cache.removeAll() == 3)
    #expect(log.take() == ["2=2 explicit", "1=1 explicit", "0=0 explicit"])
    #expect(cache.statistics.removals[.explicit, default: 0] == 3)
    #expect(cache.statistics.stores == 3)
  }

  @Test
  func `a trim tells in the order in which entries go`() {
    let cache = cache()
    for key in 0..<4 { cache.store(key, forKey: key) }
    cache.trim(toCount: 1)
    #expect(log.take() == ["0=0 explicit", "1=1 explicit", "2=2 explicit"])
  }

  @Test
  func `the listener may use the cache, since no lock is held`() {
    let box = Shared<Cache?>(nil)
    var configuration = Cache.Configuration(countLimit: 3)
    configuration.removalListener = { key, value, cause in
      guard cause == .evicted, key < 10, let cache = box.value else { return }
      cache.store(value, forKey: key + 100)
    }
    let cache = Cache(configuration)
    box.value = cache
    for key in 0..<4 { cache.store(key, forKey: key) }
    #expect(cache.keys == [103, 102, 101])
    box.value = nil
  }

  @Test
  func `values are released outside of the lock, whichever way they leave`() {
    let cache = MemoryCache<Int, ReleaseProbe>(.init(countLimit: 3))
    let counts = RemovalLog()
    // A release under the lock would deadlock here.
    let probe: @Sendable () -> ReleaseProbe = { [unowned cache] in
      ReleaseProbe { counts.append("\(cache.count)") }
    }
    for key in 0..<5 { cache.store(probe(), forKey: key) }
    cache.store(probe(), forKey: 4)
    cache.remove(forKey: 4)
    cache.trim(toCount: 1)
    cache.store(probe(), forKey: 9, cost: 1, expiration: .expired)
    cache.removeAll()
    #expect(counts.total == 7)
  }

  @Test
  func `nothing is released twice and nothing is kept`() {
    let living = Shared(0)
    let probe: @Sendable () -> ReleaseProbe = {
      living.change { $0 += 1 }
      return ReleaseProbe { living.change { $0 -= 1 } }
    }
    do {
      let cache = MemoryCache<Int, ReleaseProbe>(.init(costLimit: 500))
      var random = SeededRandom(seed: 5)
      for _ in 0..<5_000 {
        let key = Int.random(in: 0..<200, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<70: cache.store(probe(), forKey: key, cost: key)
        case 70..<90: cache.remove(forKey: key)
        case 90..<98: _ = cache.value(forKey: key)
        case 98: cache.trim(toCount: 5)
        default: cache.removeAll()
        }
        #expect(living.value == cache.count)
      }
    }
    #expect(living.value == 0)
  }

  @Test
  func `a declined promotion changes nothing`() {
    let cache = cache()
    cache.store(1, forKey: 1)
    let outcome = cache.storeIf(
      { false }, 2, forKey: 1, cost: 1, expiration: .never, ceiling: nil)
    #expect(outcome == .rejected(.declined))
    #expect(!outcome.isKept)
    #expect(cache[1] == 1)
    #expect(cache.statistics.rejections[.declined, default: 0] == 1)
    #expect(log.take().isEmpty)
  }

  @Test(
    arguments: [
      (Expiration.seconds(300), Int64(100), 100),
      (.seconds(300), 1_000, 300),
      (.never, 1_000, 1_000),
      (.never, nil, nil),
    ] as [(Expiration, Int64?, Int64?)])
  func `a promoted value has the shorter of two expiries`(
    _ expiration: Expiration, _ ceiling: Int64?, _ end: Int64?
  ) {
    let cache = cache()
    let limit = ceiling.map { Timestamp(seconds: 1_000 + $0) }
    cache.storeIf({ true }, 2, forKey: 1, cost: 1, expiration: expiration, ceiling: limit)
    clock.now = Timestamp(seconds: 1_000 + (end ?? 1 << 32), nanoseconds: -1)
    #expect(cache.contains(1))
    clock.advance(by: .nanoseconds(1))
    #expect(cache.contains(1) == (end == nil))
  }

  @Test(arguments: [true, false])
  func `a use moves a promoted expiry only if it slides`(_ slides: Bool) {
    let cache = cache()
    cache.storeIf(
      { true }, 2, forKey: 1, cost: 1, expiration: .seconds(60),
      ceiling: Timestamp(seconds: 1_050), slides: slides)
    clock.advance(by: .seconds(40))
    #expect(cache.value(forKey: 1) == 2)
    clock.advance(by: .seconds(10))
    #expect(cache.contains(1) == slides)
  }
}
