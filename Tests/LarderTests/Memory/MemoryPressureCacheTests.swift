import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The reaction of a memory tier to each step.
struct MemoryPressureCacheTests {
  typealias Cache = MemoryCache<Int, Int>
  let log = RemovalLog()

  private func cache(
    cost: Int? = nil, count: Int? = nil, values: Int = 0, each: Int = 1, stripes: Int = 1
  ) -> Cache {
    var configuration = Cache.Configuration(costLimit: cost, countLimit: count)
    configuration.stripes = stripes
    configuration.removalListener = { [log] in log.append("\($0) \($2)") }
    let cache = Cache(configuration)
    for key in 0..<values { cache.store(key, forKey: key, cost: each) }
    return cache
  }

  @Test(
    arguments: [
      (0.5, 10, 1, 5), (0.5, 11, 1, 6), (0.25, 100, 3, 75), (0.9, 100, 1, 10), (0.5, 1, 1, 1),
      (0.5, 1, 100, 0), (0.999, 100, 1, 1), (0.5, 10, 0, 5), (0.5, 0, 1, 0),
    ] as [(Double, Int, Int, Int)])
  func `a reduction leaves the rest of the cost, or of the count where nothing costs`(
    _ share: Double, _ values: Int, _ each: Int, _ left: Int
  ) {
    let cache = cache(values: values, each: each)
    cache.respond(to: .reduce(share: share))
    #expect(cache.count == left)
    #expect(cache.statistics.removals[.evicted, default: 0] == values - left)
    cache.checkInvariants()
  }

  @Test
  func `the least recently used go, and are told of as evicted`() {
    let cache = cache(values: 4)
    _ = cache.value(forKey: 0)
    cache.respond(to: .reduce(share: 0.5))
    #expect(cache.keys == [0, 3])
    #expect(log.take() == ["1 evicted", "2 evicted"])
    cache.respond(to: .empty)
    #expect(log.take() == ["0 evicted", "3 evicted"])
    #expect(cache.count == 0)
  }

  @Test
  func `expired values go first`() {
    let clock = ManualClock(Timestamp(seconds: 1_000))
    var configuration = Cache.Configuration()
    configuration.clock = clock.wallClock
    configuration.sweepInterval = nil
    let cache = Cache(configuration)
    for key in 0..<4 { cache.store(key, forKey: key) }
    for key in 4..<8 { cache.store(key, forKey: key, expiration: .seconds(1)) }
    clock.advance(by: .seconds(1))
    cache.respond(to: .reduce(share: 0.5))
    #expect(cache.keys == [3, 2])
    #expect(cache.statistics.removals[.expired, default: 0] == 4)
  }

  @Test(arguments: [1, 4])
  func `a reduced cache stays at what was left, until it is restored`(_ stripes: Int) {
    let cache = cache(cost: 1_000, values: 800, stripes: stripes)
    cache.respond(to: .reduce(share: 0.5))
    let left = cache.count
    #expect((400...402).contains(left))
    for key in 1_000..<3_000 { cache.store(key, forKey: key) }
    #expect(cache.count == left)
    cache.respond(to: .empty)
    #expect(cache.count == 0)
    for key in 0..<2_000 { cache.store(key, forKey: key) }
    #expect(cache.count == left)
    cache.respond(to: .restore)
    #expect(cache.count == left)
    for key in 2_000..<9_000 { cache.store(key, forKey: key) }
    #expect(cache.count == 1_000)
    cache.checkInvariants()
  }

  @Test
  func `without a limit a restored cache has none`() {
    let cache = cache(values: 10)
    cache.respond(to: .reduce(share: 0.5))
    for key in 10..<100 { cache.store(key, forKey: key) }
    #expect(cache.count == 5)
    cache.respond(to: .restore)
    for key in 10..<100 { cache.store(key, forKey: key) }
    #expect(cache.count >= 90)
  }

  @Test
  func `a second reduction takes its share of what is left`() {
    let cache = cache(values: 100)
    for left in [50, 25, 13, 7, 4, 2, 1, 1] {
      cache.respond(to: .reduce(share: 0.5))
      #expect(cache.count == left)
    }
  }

  @Test
  func `limits tell and take what is set while they are lowered`() {
    let cache = cache(cost: 100, count: 90, values: 80)
    cache.respond(to: .reduce(share: 0.5))
    #expect(cache.costLimit == 100)
    #expect(cache.countLimit == 90)
    cache.costLimit = 200
    cache.store(1, forKey: 1_000)
    #expect(cache.count == 40)
    cache.costLimit = 10
    #expect(cache.count == 10)
    cache.costLimit = 200
    cache.countLimit = nil
    for key in 0..<300 { cache.store(key, forKey: key) }
    #expect(cache.count == 40)
    cache.respond(to: .restore)
    for key in 0..<300 { cache.store(key, forKey: key) }
    #expect(cache.count == 200)
  }

  @Test
  func `a value that costs more than the lowered limit is rejected, and its old one goes`() {
    let cache = cache(cost: 100)
    cache.store(1, forKey: 1, cost: 20)
    cache.store(2, forKey: 2, cost: 20)
    cache.respond(to: .reduce(share: 0.5))
    #expect(cache.store(3, forKey: 2, cost: 30) == .rejected(.tooLarge))
    #expect(cache.value(forKey: 2) == nil)
    cache.respond(to: .restore)
    #expect(cache.store(3, forKey: 2, cost: 30) == .stored)
  }

  @Test
  func `removing everything does not restore limits`() {
    let cache = cache(values: 10)
    cache.respond(to: .reduce(share: 0.5))
    cache.removeAll()
    for key in 0..<100 { cache.store(key, forKey: key) }
    #expect(cache.count == 5)
  }

  @Test
  func `a restoration without a reduction changes nothing`() {
    let cache = cache(cost: 50, values: 40)
    cache.respond(to: .restore)
    #expect(cache.count == 40)
    #expect(cache.costLimit == 50)
    #expect(log.take().isEmpty)
  }
}
