import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct MemoryThreadTests {
  @Test(.watched, arguments: [1, 4])
  func `many tasks at once never see another key's value`(_ stripes: Int) async {
    var configuration = MemoryCache<Int, [Int]>.Configuration(countLimit: 300)
    configuration.stripes = stripes
    configuration.expiration = .seconds(3_600)
    let cache = MemoryCache<Int, [Int]>(configuration)
    await withTaskGroup(of: Void.self) { group in
      for seed in 0..<8 {
        group.addTask { Self.work(on: cache, seed: UInt64(seed)) }
      }
    }
    cache.checkInvariants()
    let counted = cache.statistics
    #expect(counted.stores - counted.removals.values.reduce(0, +) == cache.count)
    #expect(cache.count <= 300)
  }

  private static func work(on cache: MemoryCache<Int, [Int]>, seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for step in 0..<4_000 {
      let key = Int.random(in: 0..<1_000, using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50: #expect(cache.value(forKey: key)?.first ?? key == key)
      case 50..<90: cache.store([key, step], forKey: key)
      case 90..<97: cache.remove(forKey: key)
      case 97: cache.countLimit = Int.random(in: 100...300, using: &random)
      case 98: #expect(cache.keys.count <= 300)
      default: cache.trim(toCount: 50)
      }
    }
  }

  @Test(.watched)
  func `the newest store wins over every promotion`() async {
    let cache = MemoryCache<Int, Int>()
    let generation = Shared(0)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for value in 1...5_000 {
          generation.value = value
          cache.store(value, forKey: 1)
        }
      }
      group.addTask {
        for _ in 0..<5_000 {
          let seen = generation.value
          cache.storeIf(
            { generation.value == seen }, seen, forKey: 1,
            cost: 1, expiration: .never, ceiling: nil)
        }
      }
    }
    #expect(cache[1] == 5_000)
  }
}
