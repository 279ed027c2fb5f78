import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The settings of a random run. The table below names the interesting combinations.
struct ModelRun: CustomTestStringConvertible {
  var name: String
  var costLimit: Int?
  var countLimit: Int?
  var ageLimit: Int64?
  var trimTarget = 1.0
  var lifetimes: [Int64?] = [nil]
  var keys = 40
  var costs = 0...9

  var testDescription: String { name }

  static let table = [
    ModelRun(name: "no limit"),
    ModelRun(name: "a count limit", countLimit: 16),
    ModelRun(name: "a cost limit", costLimit: 60),
    ModelRun(name: "costs at the limit", costLimit: 9),
    ModelRun(name: "both limits", costLimit: 60, countLimit: 12),
    ModelRun(name: "nothing may stay", countLimit: 0),
    ModelRun(name: "only what is free may stay", costLimit: 0),
    ModelRun(name: "purges to half", costLimit: 100, countLimit: 25, trimTarget: 0.5),
    ModelRun(name: "lifetimes", lifetimes: [nil, 0, 5, 20, 90]),
    ModelRun(
      name: "lifetimes under limits", costLimit: 60, countLimit: 12, lifetimes: [nil, 3, 9]),
    ModelRun(name: "lifetimes, many entries", countLimit: 100, lifetimes: [40, 400], keys: 300),
    ModelRun(name: "an age limit", ageLimit: 12),
    ModelRun(
      name: "everything", costLimit: 150, countLimit: 30, ageLimit: 25, trimTarget: 0.6,
      lifetimes: [nil, 8, 30]),
  ]
}

/// Random operations on the cache and on the naive model, compared after each.
struct MemoryModelTests {
  let clock = ManualClock(Timestamp(seconds: 1_000_000))
  let removed = RemovalLog()

  @Test(arguments: ModelRun.table, 1...3 as ClosedRange<UInt64>)
  func `every operation does what the naive model does`(_ run: ModelRun, seed: UInt64) {
    let cache = MemoryCache<Int, Int>(configuration(of: run))
    var model = model(of: run)
    var random = SeededRandom(seed: seed)
    for step in 0..<rounds(400) {
      let (ours, naive) = operate(on: cache, &model, run, &random)
      #expect(ours == naive, "step \(step)")
      cache.checkInvariants()
      #expect(
        inAnyOrderIfExpired(removed.take()) == inAnyOrderIfExpired(model.removed), "step \(step)")
      model.removed = []
      #expect(cache.count == model.entries.count)
      #expect(cache.totalCost == model.totalCost)
      let living = model.entries.filter { !model.isExpired($0) }
      #expect(cache.keys == living.map(\.key))
      #expect(cache.values == living.map(\.value))
      if ours != naive { return }
    }
    let counted = cache.statistics
    #expect(counted.removals.values.reduce(0, +) == removed.total)
  }

  /// Sorts the values that expired in a row. Sweeps find them in the order of their slots.
  private func inAnyOrderIfExpired(_ removals: [String]) -> [String] {
    var rest = removals[...]
    var sorted: [String] = []
    while let first = rest.first {
      let row = rest.prefix { $0.hasSuffix("expired") }
      sorted += row.isEmpty ? [first] : row.sorted()
      rest = rest.dropFirst(max(row.count, 1))
    }
    return sorted
  }

  private func configuration(of run: ModelRun) -> MemoryCache<Int, Int>.Configuration {
    var configuration = MemoryCache<Int, Int>.Configuration(
      costLimit: run.costLimit, countLimit: run.countLimit,
      ageLimit: run.ageLimit.map { .seconds($0) })
    configuration.trimTarget = run.trimTarget
    configuration.extending = .lifetime
    configuration.recordsUseTimes = true
    configuration.clock = clock.wallClock
    configuration.removalListener = { [removed] in removed.append("\($0)=\($1) \($2)") }
    return configuration
  }

  private func model(of run: ModelRun) -> NaiveLRU {
    var model = NaiveLRU()
    model.costLimit = run.costLimit ?? .max
    model.countLimit = run.countLimit ?? .max
    model.ageLimit = run.ageLimit ?? .max
    model.trimTarget = run.trimTarget
    model.now = clock.now.seconds
    return model
  }

  /// Applies a random operation to both, and returns both results.
  private func operate(
    on cache: MemoryCache<Int, Int>, _ model: inout NaiveLRU, _ run: ModelRun,
    _ random: inout SeededRandom
  ) -> (String, String) {
    let key = Int.random(in: 0..<run.keys, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40: return ("\(cache.value(forKey: key) as Int?)", "\(model.value(key) as Int?)")
    case 40..<75: return store(key, in: cache, &model, run, &random)
    case 75..<82: return ("\(cache.remove(forKey: key))", "\(model.remove(key))")
    case 82..<94:
      let seconds = Int64.random(in: 0...4, using: &random)
      clock.advance(by: .seconds(seconds))
      model.now += seconds
      return ("", "")
    default: return trim(cache, &model, &random)
    }
  }

  private func store(
    _ key: Int, in cache: MemoryCache<Int, Int>, _ model: inout NaiveLRU, _ run: ModelRun,
    _ random: inout SeededRandom
  ) -> (String, String) {
    let cost = Int.random(in: run.costs, using: &random)
    let value = Int.random(in: 0..<1_000_000, using: &random)
    let lifetime = run.lifetimes.randomElement(using: &random) ?? nil
    let ours = cache.store(
      value, forKey: key, cost: cost, expiration: lifetime.map { .seconds(Int($0)) } ?? .never)
    return ("\(ours)", "\(model.store(value, key, cost: cost, lifetime: lifetime))")
  }

  private func trim(
    _ cache: MemoryCache<Int, Int>, _ model: inout NaiveLRU, _ random: inout SeededRandom
  ) -> (String, String) {
    let before = model.entries.count
    let ours: Int
    let target = Int.random(in: 0..<80, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      ours = cache.trim(toCount: target)
      model.sweep()
      model.evict(.explicit, keeping: 0) { $0.entries.count <= target }
    case 1:
      ours = cache.trim(toCost: target)
      model.sweep()
      model.evict(.explicit, keeping: 0) { $0.totalCost <= target }
    case 2:
      ours = cache.trim(toAge: .seconds(target))
      model.sweep()
      model.evict(.explicit, keeping: 0) {
        $0.now - ($0.entries.last?.lastUse ?? $0.now) < Int64(target)
      }
    default:
      ours = cache.removeExpired()
      model.sweep()
    }
    return ("\(ours)", "\(before - model.entries.count)")
  }
}
