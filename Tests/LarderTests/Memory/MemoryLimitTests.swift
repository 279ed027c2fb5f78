import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct MemoryLimitTests {
  typealias Cache = MemoryCache<Int, Int>

  private func filled(_ costs: [Int], _ configuration: Cache.Configuration) -> Cache {
    let cache = Cache(configuration)
    for (key, cost) in costs.enumerated() { cache.store(key, forKey: key, cost: cost) }
    return cache
  }

  @Test(arguments: [
    ([5, 5], [1, 0], 10),
    ([5, 6], [1], 6),
    ([1, 2, 3, 4, 5], [4, 3], 9),
    ([10, 1], [1], 1),
    ([0, 0, 10, 0], [3, 2, 1, 0], 10),
  ])
  func `the cost stays within the limit`(_ costs: [Int], _ keys: [Int], _ total: Int) {
    let cache = filled(costs, .init(costLimit: 10))
    #expect(cache.keys == keys)
    #expect(cache.totalCost == total)
    cache.checkInvariants()
  }

  @Test
  func `what costs more than the limit is not kept, nor is what it was to replace`() {
    let cache = filled([3, 3], .init(costLimit: 10))
    #expect(cache.store(7, forKey: 0, cost: 11) == .rejected(.tooLarge))
    #expect(cache.keys == [1])
    #expect(cache.store(8, forKey: 2, cost: 11) == .rejected(.tooLarge))
    #expect(cache.keys == [1])
    #expect(cache.store(9, forKey: 2, cost: 10) == .stored)
    #expect(cache.keys == [2])
    #expect(cache.statistics.rejections[.tooLarge, default: 0] == 2)
  }

  @Test
  func `a replaced value that grows evicts others and not itself`() {
    let cache = filled([3, 3, 3], .init(costLimit: 10))
    cache.store(0, forKey: 0, cost: 9)
    #expect(cache.keys == [0])
    cache.store(0, forKey: 0, cost: 1)
    #expect(cache.totalCost == 1)
  }

  @Test(arguments: [Cache.Configuration(costLimit: 0), Cache.Configuration(countLimit: 0)])
  func `a limit of zero keeps nothing`(_ configuration: Cache.Configuration) {
    let cache = Cache(configuration)
    #expect(cache.store(1, forKey: 1) == .rejected(.tooLarge))
    #expect(cache.count == 0)
  }

  @Test
  func `costs of many gigabytes add up`() {
    let gigabyte = 1 << 30
    let cache = filled([5 * gigabyte, 3, 8_000_000 * gigabyte], .init())
    #expect(cache.totalCost == 8_000_005 * gigabyte + 3)
    cache.store(0, forKey: 0, cost: 4 * gigabyte)
    cache.checkInvariants()
    cache.store(0, forKey: 0, cost: 4 * gigabyte - 1)
    cache.checkInvariants()
    #expect(cache.remove(forKey: 2))
    #expect(cache.totalCost == 4 * gigabyte + 2)
    cache.checkInvariants()
  }

  @Test
  func `the sum of all costs cannot overflow`() {
    let cache = filled([.max, 1, .max - 1], .init())
    #expect(cache.keys == [2, 1])
    #expect(cache.totalCost == .max)
    #expect(cache.store(3, forKey: 3, cost: .max) == .stored)
    #expect(cache.keys == [3])
  }

  @Test
  func `a value that is replaced at the highest cost evicts others as a new one does`() {
    let cache = filled([1, 2, 3], .init())
    cache.store(9, forKey: 0, cost: .max)
    #expect(cache.keys == [0] && cache.totalCost == .max)
    cache.store(9, forKey: 0, cost: .max - 1)
    cache.store(1, forKey: 1, cost: 1)
    #expect(cache.keys == [1, 0] && cache.totalCost == .max)
    #expect(cache.statistics.removals[.evicted, default: 0] == 2)
    cache.checkInvariants()
  }

  @Test
  func `stripes that are full of the costliest have a total all the same`() {
    var configuration = Cache.Configuration()
    configuration.stripes = 2
    let cache = Cache(configuration)
    for key in 0..<64 { cache.store(key, forKey: key, cost: .max) }
    #expect(cache.count == 2 && cache.totalCost == .max)
  }

  @Test
  func `limits that are set while others take effect are the ones in force`() {
    let box = Shared<Cache?>(nil)
    var configuration = Cache.Configuration(costLimit: 100)
    configuration.stripes = 2
    // Called between the two stripes, as another thread may call.
    configuration.removalListener = { _, _, _ in
      let cache = box.value
      box.value = nil
      cache?.costLimit = 100
    }
    let cache = Cache(configuration)
    func fill() { for key in 0..<1_000 { cache.store(key, forKey: key, cost: 1) } }
    fill()
    box.value = cache
    cache.costLimit = 10
    #expect(cache.costLimit == 100)
    fill()
    #expect(cache.totalCost == 100)
  }

  @Test
  func `lowering a limit takes effect at once`() {
    let cache = filled([1, 2, 3, 4], .init())
    #expect(cache.costLimit == nil)
    cache.costLimit = 8
    #expect(cache.costLimit == 8)
    #expect(cache.keys == [3, 2])
    cache.countLimit = 1
    #expect(cache.keys == [3])
    cache.countLimit = nil
    cache.costLimit = nil
    for key in 10..<20 { cache.store(key, forKey: key) }
    #expect(cache.count == 11)
    #expect(cache.statistics.removals[.evicted, default: 0] == 3)
  }

  @Test
  func `trims go down to count and cost, whichever entries they take`() {
    let cache = filled([1, 2, 3, 4, 5], .init())
    #expect(cache.trim(toCount: 9) == 0)
    #expect(cache.trim(toCount: 4) == 1)
    #expect(cache.trim(toCost: 9) == 2)
    #expect(cache.keys == [4, 3])
    #expect(cache.trim(toCost: 8) == 1)
    #expect(cache.trim(toCount: 0) == 1)
    #expect(cache.statistics.removals[.explicit, default: 0] == 5)
  }

  @Test
  func `a purge goes down to the preferred level`() {
    var configuration = Cache.Configuration(costLimit: 100, countLimit: 1_000)
    configuration.trimTarget = 0.6
    let cache = filled(Array(repeating: 10, count: 10), configuration)
    #expect(cache.totalCost == 100)
    cache.store(10, forKey: 10, cost: 10)
    #expect(cache.totalCost == 60)
    #expect(cache.keys == [10, 9, 8, 7, 6, 5])
  }

  @Test
  func `a value larger than the preferred level stays alone`() {
    var configuration = Cache.Configuration(costLimit: 100)
    configuration.trimTarget = 0.6
    let cache = filled([10, 10, 90], configuration)
    #expect(cache.keys == [2])
  }

  @Test
  func `the cost function is asked unless a cost is given`() {
    var configuration = Cache.Configuration(costLimit: 100)
    configuration.cost = { key, value in key + value }
    let cache = Cache(configuration)
    cache.store(30, forKey: 4)
    #expect(cache.totalCost == 34)
    cache.store(30, forKey: 4, cost: 2)
    #expect(cache.totalCost == 2)
  }

  @Test(arguments: [2, 4, 8, 16], [1, 7, 64, 1_000])
  func `stripes share the limits without loss`(_ stripes: Int, _ limit: Int) {
    let limits = MemoryLimits(cost: limit, count: limit + 1, age: nil, trimTarget: 1)
    let parts = (0..<stripes).map { limits.share(ofStripe: $0, of: stripes) }
    #expect(parts.reduce(0) { $0 + ($1.cost ?? 0) } == limit)
    #expect(parts.reduce(0) { $0 + ($1.count ?? 0) } == limit + 1)
  }

  @Test(arguments: [1, 2, 4, 8, 16])
  func `stripes together hold what one would and no more`(_ stripes: Int) {
    var configuration = Cache.Configuration(countLimit: 800)
    configuration.stripes = stripes
    let cache = Cache(configuration)
    for key in 0..<5_000 { cache.store(key, forKey: key) }
    #expect(cache.count == 800)
    #expect(Set(cache.keys).count == 800)
    #expect(cache.values.allSatisfy { cache.peek($0) == $0 })
    cache.countLimit = 80
    #expect(cache.count <= 80)
    #expect(cache.trim(toCount: 8) > 0)
    #expect(cache.removeAll() <= 8)
    cache.checkInvariants()
    #expect(cache.statistics.removals.values.reduce(0, +) == 5_000)
  }
}
