import LarderTestSupport
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

@Suite(.watched)
struct `Hits that larger limits would have had` {
  /// A cache that evicts the least recently used down to half of a limit.
  private struct ModelCache {
    let limits: (byteCount: Double, count: Double)
    private var uses: [UInt64: Int] = [:]
    private var order: [Int: (key: UInt64, byteCount: Double)] = [:]
    private var (first, time) = (0, 0)
    var count: Double { Double(order.count) }
    private(set) var hits = 0
    private(set) var total = 0.0

    init(_ byteCount: Double, _ count: Double) { limits = (byteCount, count) }

    /// Returns whether it was a hit, and what was evicted.
    mutating func access(_ key: UInt64, _ size: Double) -> (
      Bool, [(key: UInt64, byteCount: Double)]
    ) {
      time += 1
      let old = uses.updateValue(time, forKey: key).flatMap { order.removeValue(forKey: $0) }
      order[time] = (key, size)
      total += size - (old?.byteCount ?? 0)
      if old != nil { hits += 1 }
      let passed = (total > limits.byteCount, count > limits.count)
      var gone: [(key: UInt64, byteCount: Double)] = []
      while passed.0 && total > limits.byteCount / 2 || passed.1 && count > limits.count / 2,
        order.count > 1
      {
        first += 1
        guard let entry = order.removeValue(forKey: first) else { continue }
        uses[entry.key] = nil
        total -= entry.byteCount
        gone.append(entry)
      }
      return (old != nil, gone)
    }
  }

  /// Replays random accesses on three models, and counts with the smallest one's evictions.
  private func replay(
    _ accesses: Int, of keys: Int, limit: Double, count: Double = .infinity, seed: UInt64
  ) -> (counted: [Int], real: [Int]) {
    var random = SeededRandom(seed: seed)
    var models = [1.0, 2, 4].map { ModelCache(limit * $0, count * $0) }
    var larger = LargerLimits()
    var counted = [0, 0, 0]
    for _ in 0..<accesses {
      // Skewed, so that some keys come often.
      let number = min(
        Int.random(in: 0..<keys, using: &random), .random(in: 0..<keys, using: &random))
      let key = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
      let size = Double(1 + number % 7)
      var results = models.indices.map { models[$0].access(key, size) }
      let (isHit, gone) = results.removeFirst()
      if isHit {
        counted[0] += 1
      } else {
        let more = larger.countMiss(key, at: Timestamp(seconds: 1))
        counted[1] += more.double
        counted[2] += more.fourfold
        larger.forget(key)
      }
      let sum = gone.reduce((models[0].total, models[0].count)) {
        ($0.0 + $1.byteCount, $0.1 + 1)
      }
      larger.keepLimits(
        beside: (UInt64(sum.0), Int(sum.1)),
        limits: (Int(limit), count == .infinity ? nil : Int(count)),
        share: 0.5)
      for entry in gone {
        larger.note(entry.key, byteCount: UInt64(entry.byteCount), expiry: .never)
      }
    }
    return ([counted[0], counted[0] + counted[1], counted[0] + counted[2]], models.map(\.hits))
  }

  /// If the smallest and the next evict at once, that one may keep an entry too many or too few.
  private func expectClose(_ counted: [Int], _ real: [Int]) {
    #expect(counted[2] == real[2])
    #expect(abs(counted[1] - real[1]) <= 40, "\(counted) \(real)")
  }

  @Test(arguments: 1...20)
  func `are those of caches with such limits`(seed: UInt64) {
    let (counted, real) = replay(20_000, of: 1_000, limit: 400, seed: seed)
    expectClose(counted, real)
    #expect(real[1] > real[0] && real[2] > real[1])
  }

  @Test(arguments: 1...5)
  func `are counted for a limit on entries as well`(seed: UInt64) {
    let (counted, real) = replay(
      20_000, of: 1_000, limit: 600, count: 90, seed: seed)
    expectClose(counted, real)
  }

  @Test func `are estimated within a point where a part of the evicted is remembered`() {
    let (counted, real) = replay(300_000, of: 60_000, limit: 32_000, seed: 1)
    for (a, b) in zip(counted, real) { #expect(abs(a - b) <= 3_000, "\(counted) \(real)") }
    #expect(real[2] > real[0] + 30_000)
  }
}

// What a disk cache counts.
extension `Hits that larger limits would have had` {
  private func scene(_ byteCount: Int = 1) throws -> (DiskScene, DiskCache) {
    let scene = try DiskScene()
    let cache = try scene.open { $0.countLimit = 4 }
    _ = try cache.count()
    for number in 0..<5 {
      scene.clock.advance(by: .seconds(1))
      try cache.store(
        [UInt8](repeating: 1, count: byteCount), forKey: "\(number)",
        expiration: number == 1 ? .seconds(60) : .never)
    }
    try cache.flush()
    return (scene, cache)
  }

  @Test func `a miss counts once until the value is stored again`() throws {
    let (scene, cache) = try scene()
    let kept = try (0..<5).filter { try cache.contains("\($0)") }
    #expect(kept == [3, 4])
    for _ in 0..<2 { #expect(try cache.value(forKey: "2") == nil) }
    #expect(cache.statistics.moreHitsAtDoubleLimit == 1)
    #expect(cache.statistics.moreHitsAtFourfoldLimit == 1)
    // Two threads evict, and the last to end may have the older one.
    #expect([.seconds(2), .seconds(3), .seconds(4)].contains(cache.statistics.evictionAge))
    try cache.store([1], forKey: "2")
    #expect(try cache.value(forKey: "never there") == nil)
    #expect(cache.statistics.moreHitsAtFourfoldLimit == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `what has expired, was removed or cleared since would be no hit`() throws {
    let (scene, cache) = try scene()
    scene.clock.advance(by: .seconds(100))
    // The time is that of the latest use.
    #expect(try cache.value(forKey: "4") != nil)
    #expect(try cache.value(forKey: "1") == nil)
    try cache.remove(forKey: "0")
    #expect(try cache.value(forKey: "0") == nil)
    try cache.removeAll()
    #expect(try cache.value(forKey: "2") == nil)
    #expect(cache.statistics.moreHitsAtFourfoldLimit == 0)
  }

  @Test func `what a caller trims, no larger limit would keep`() throws {
    let (scene, cache) = try scene()
    try cache.trim(toCount: 0)
    #expect(try cache.value(forKey: "4") == nil)
    #expect(cache.statistics.moreHitsAtFourfoldLimit == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `a load counts once`() async throws {
    let scene = try DiskScene()
    let cache = try scene.open(.bytes) {
      $0.disk.countLimit = 2
      $0.memoryCountLimit = 0
    }
    _ = try await cache.disk.count()
    for key in ["a", "b", "c"] { try await cache.store([1], forKey: key) }
    try await cache.disk.flush()
    for _ in 0..<2 { _ = try await cache.value(forKey: "a") { [2] } }
    #expect(cache.statistics.disk.moreHitsAtDoubleLimit == 1)
    #expect(cache.statistics.missCount == 1)
  }
}
