import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The calls of other threads during a sweep. The listener, which runs between its slices, makes
/// them.
@Suite(.watched)
struct SlicedSweepTests {
  typealias Cache = MemoryCache<Int, Int>
  private let clock = ManualClock(Timestamp(seconds: 1_000))
}

extension SlicedSweepTests {
  /// Returns a cache that calls a function after each slice in which a value expired.
  private func cache(_ between: @escaping @Sendable (Cache) -> Void) -> Cache {
    var configuration = Cache.Configuration()
    configuration.clock = clock.wallClock
    configuration.sweepInterval = .seconds(3_600)
    let box = Shared<Weak>(Weak())
    configuration.removalListener = { _, _, cause in
      if cause == .expired, let cache = box.value.cache { between(cache) }
    }
    let cache = Cache(configuration)
    box.value = Weak(cache: cache)
    return cache
  }

  private struct Weak: Sendable {
    weak var cache: Cache?
  }

  @Test func `others get in between slices`() {
    let counts = Shared<[Int]>([])
    let cache = cache { cache in counts.change { $0.append(cache.count) } }
    for key in 0..<1_000 { cache.store(key, forKey: key, expiration: .seconds(5)) }
    clock.advance(by: .seconds(5))
    cache.sweep()
    // After each slice its values are gone, and those of the next are still there.
    #expect(Set(counts.value) == [744, 488, 232, 0])
    #expect(cache.count == 0)
    cache.checkInvariants()
  }

  @Test func `what is stored behind a sweep is found by the next`() {
    let stored = Counter()
    let cache = cache { cache in
      guard stored.value < 1_000 else { return }
      // New values reuse the slots that the sweep has emptied.
      cache.store(0, forKey: 10_000 + stored.value, expiration: .seconds(5))
      stored.add()
      cache.checkInvariants()
    }
    for key in 0..<1_000 { cache.store(key, forKey: key, expiration: .seconds(5)) }
    cache.store(1, forKey: -1, expiration: .seconds(50))
    clock.advance(by: .seconds(5))
    cache.sweep()
    #expect(stored.value == 1_000)
    #expect(cache.count == 1_001)
    cache.checkInvariants()
    clock.advance(by: .seconds(5))
    #expect(cache.removeExpired() == 1_000)
    #expect(cache.keys == [-1])
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let act: @Sendable (Cache) -> Void
    let left: [Int]
  }

  static let rows = [
    Row(testDescription: "everything is removed", act: { $0.removeAll() }, left: []),
    Row(testDescription: "slots move", act: { $0.trim(toCount: 10) }, left: [-1]),
    Row(testDescription: "all is looked through", act: { $0.removeExpired() }, left: [-1]),
    Row(testDescription: "another sweep runs", act: { $0.sweep() }, left: [-1]),
    Row(testDescription: "an age limit is set", act: { $0.ageLimit = .seconds(1) }, left: [-1]),
  ]

  @Test(arguments: rows)
  func `a sweep goes with what happens between its slices`(_ row: Row) {
    let isFirst = Shared(true)
    let cache = cache { cache in
      guard isFirst.value else { return }
      isFirst.value = false
      row.act(cache)
      cache.checkInvariants()
    }
    for key in 0..<9_000 { cache.store(key, forKey: key, expiration: .seconds(5)) }
    cache.store(1, forKey: -1, expiration: .seconds(50))
    clock.advance(by: .seconds(5))
    _ = cache.value(forKey: -1)
    cache.sweep()
    cache.checkInvariants()
    #expect(cache.keys == row.left)
    cache.sweep()
    cache.checkInvariants()
    #expect(cache.count == row.left.count)
  }

  @Test func `a cache with two tiers sweeps its memory as configured`() {
    var configuration = CacheConfiguration()
    var memory: MemoryCache<CacheKey, String>.Configuration = configuration.memory()
    #expect(memory.sweepInterval == .seconds(120))
    configuration.memorySweepInterval = .seconds(7)
    memory = configuration.memory()
    #expect(memory.sweepInterval == .seconds(7))
    configuration.memorySweepInterval = nil
    memory = configuration.memory()
    #expect(memory.sweepInterval == nil)
  }
}
