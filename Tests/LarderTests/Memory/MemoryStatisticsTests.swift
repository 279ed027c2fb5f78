import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// Tests every row of the table in the documentation of `MemoryStatistics`.
struct MemoryStatisticsTests {
  typealias Cache = MemoryCache<Int, Int>
  let clock = ManualClock(Timestamp(seconds: 1_000))

  @Test
  func `each event bumps its counters and no others`() {
    var configuration = Cache.Configuration(costLimit: 10)
    configuration.clock = clock.wallClock
    let cache = Cache(configuration)
    var expected = MemoryCounters()
    func check(_ event: String) {
      #expect(cache.statistics == MemoryStatistics(expected), "\(event)")
    }

    _ = cache.value(forKey: 1)
    expected.missesAbsent = 1
    check("a read of nothing")
    cache.store(1, forKey: 1, expiration: .seconds(5))
    expected.stores = 1
    check("a store")
    _ = cache.value(forKey: 1)
    expected.hits = 1
    check("a read")
    cache.store(2, forKey: 1, expiration: .seconds(5))
    expected.stores = 2
    expected.countRemovals(1, .replaced)
    check("a store in place of another")
    clock.advance(by: .seconds(5))
    _ = cache.value(forKey: 1)
    expected.missesExpired = 1
    expected.countRemovals(1, .expired)
    check("a read of what has expired")
    cache.store(3, forKey: 1, expiration: .expired)
    expected.rejectedExpired = 1
    check("a store of what has expired")
    cache.store(3, forKey: 1, cost: 11)
    expected.rejectedTooLarge = 1
    check("a store of what is too large")
    cache.store(4, forKey: 4, cost: 6)
    cache.store(5, forKey: 5, cost: 6)
    expected.stores = 4
    expected.countRemovals(1, .evicted)
    check("an eviction")
    cache.remove(forKey: 5)
    cache.remove(forKey: 5)
    expected.countRemovals(1, .explicit)
    check("a removal")
  }

  @Test
  func `sums add every counter`() {
    var one = MemoryCounters()
    one.hits = 1
    one.missesAbsent = 2
    one.missesExpired = 3
    one.stores = 4
    one.rejectedExpired = 5
    one.rejectedTooLarge = 6
    one.rejectedDeclined = 7
    for (number, cause) in RemovalCause.allCases.enumerated() {
      one.countRemovals(10 + number, cause)
    }
    var two = one
    two.add(one)
    let (single, sum) = (MemoryStatistics(one), MemoryStatistics(two))
    #expect([single.hits, single.missesAbsent, single.missesExpired] == [1, 2, 3])
    #expect([sum.hits, sum.missesAbsent, sum.missesExpired] == [2, 4, 6])
    #expect(sum.stores == 8)
    #expect(sum.rejections == [.expired: 10, .tooLarge: 12, .declined: 14])
    for (number, cause) in RemovalCause.allCases.enumerated() {
      #expect(single.removals[cause] == 10 + number)
      #expect(sum.removals[cause] == 20 + 2 * number)
    }
  }
}
