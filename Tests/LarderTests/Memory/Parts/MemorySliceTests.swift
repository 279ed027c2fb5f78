import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderMemory
@testable import LarderSystem

/// Removals of more values than one slice takes under the lock.
@Suite(.watched)
struct MemorySliceTests {
  typealias Cache = MemoryCache<Int, Int>
  private let clock = ManualClock(Timestamp(seconds: 1_000))
}

extension MemorySliceTests {
  /// Returns a cache with the keys from 0 on, each used one second after the one before.
  private func filled(
    _ count: Int, _ configuration: Cache.Configuration = Cache.Configuration(),
    expiration: (Int) -> Expiration = { _ in .never }
  ) -> Cache {
    var configuration = configuration
    configuration.clock = clock.wallClock
    configuration.recordsUseTimes = true
    let cache = Cache(configuration)
    for key in 0..<count {
      cache.store(key, forKey: key, cost: 2, expiration: expiration(key))
      clock.advance(by: .seconds(1))
    }
    return cache
  }

  @Test func `a removal gives the lock back after 256 values and after 256 slots`() {
    let cache = filled(1_000) { $0 < 300 ? .seconds(500) : .never }
    var counts: [Int] = []
    let removed = cache.removing(at: cache.now) { _, isFirst, lru, removals in
      #expect(isFirst == counts.isEmpty)
      counts.append(lru.slab.count)
      return lru.evictSlice(.explicit, at: cache.now, into: &removals) { $0.slab.count > 10 }
    }
    // The sweep of the four slices before has removed what had expired.
    #expect(counts == [700, 444, 188])
    #expect(removed == 990)
    #expect(cache.count == 10)
    cache.checkInvariants()
  }

  @Test func `a slice for lowered limits or an age removes 256 values at most`() {
    let cache = filled(1_000)
    var removals = LarderMemory.Removals<Int, Int>()
    cache.withStripe(at: 0) { lru in
      var goals = LRU<Int, Int>.Goals()
      let limits = MemoryLimits(cost: 1_400, count: 300, age: nil, trimTarget: 0.5)
      var counts: [Int] = []
      while lru.lowerSlice(to: limits, &goals, at: cache.now, into: &removals) {
        counts.append(lru.slab.count)
        // The limits are set with the last slice, so a store removes nothing until then.
        #expect(lru.settings.countLimit == Slot.maximumCount && lru.settings.costLimit == .max)
      }
      // To half of the limit on the cost, which is 350 values. Then to half of that on the count.
      #expect(counts == [744, 488])
      #expect(lru.slab.count == 150 && lru.settings.countLimit == 300)
    }
    let aged = filled(1_000)
    aged.withStripe(at: 0) { lru in
      let age = PackedSpan(.seconds(100))
      var slices = 1
      while lru.evictSlice(toAge: age, at: aged.now, into: &removals) { slices += 1 }
      #expect(slices == 4 && lru.slab.count == 99)
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let act: @Sendable (Cache) -> Void
    let left: Range<Int>
  }

  static let rows = [
    Row(testDescription: "trim to a count", act: { $0.trim(toCount: 700) }, left: 1_300..<2_000),
    Row(testDescription: "trim to a cost", act: { $0.trim(toCost: 600) }, left: 1_700..<2_000),
    Row(
      testDescription: "trim to an age", act: { $0.trim(toAge: .seconds(501)) },
      left: 1_500..<2_000),
    Row(testDescription: "a limit on the count", act: { $0.countLimit = 800 }, left: 1_600..<2_000),
    Row(testDescription: "a limit on the cost", act: { $0.costLimit = 1_000 }, left: 1_750..<2_000),
    Row(
      testDescription: "an age limit", act: { $0.ageLimit = .seconds(301) }, left: 1_700..<2_000),
    Row(
      testDescription: "memory pressure", act: { $0.respond(to: .reduce(share: 0.75)) },
      left: 1_750..<2_000),
    Row(testDescription: "a sweep", act: { $0.removeExpired() }, left: 1_000..<2_000),
  ]

  @Test(arguments: rows)
  func `a removal in slices takes the expired first, and then the least recently used`(_ row: Row) {
    var configuration = Cache.Configuration()
    configuration.trimTarget = 0.5
    configuration.sweepInterval = nil
    // The older half has expired when all are stored.
    let cache = filled(2_000, configuration) { $0 < 1_000 ? .seconds(1_000) : .never }
    row.act(cache)
    cache.checkInvariants()
    #expect(cache.keys.sorted() == Array(row.left))
  }

  static let shrinking: [(@Sendable (Cache) -> Void)] = [
    { $0.trim(toCount: 100) }, { $0.countLimit = 100 }, { $0.sweep() },
  ]

  @Test(arguments: shrinking.indices)
  func `memory is given back when little of it is in use`(_ row: Int) {
    var configuration = Cache.Configuration()
    configuration.sweepInterval = .seconds(100_000)
    let cache = filled(5_000, configuration) { $0 < 4_900 ? .seconds(4_900) : .never }
    if row == 2 { clock.advance(by: .seconds(5_000)) }
    Self.shrinking[row](cache)
    cache.checkInvariants()
    #expect(cache.count == 100)
    cache.withStripe(at: 0) { lru in
      #expect(lru.slab.entries.capacity == 101 && lru.slab.table.capacity == 192)
      #expect(lru.slab.table.oldCount == 0)
    }
  }

  @Test func `a trim that is done in one slice takes one look at the lock`() {
    let cache = filled(200) { $0 < 50 ? .seconds(100) : .never }
    var looks = 0
    let removed = cache.removing(at: cache.now) { _, _, lru, removals in
      looks += 1
      #expect(lru.slab.count == 150)
      return lru.evictSlice(.explicit, at: cache.now, into: &removals) { $0.slab.count > 0 }
    }
    #expect(looks == 1 && removed == 200 && cache.isEmpty)
  }
}
