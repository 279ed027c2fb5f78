import Larder
import Synchronization

/// The caches of a front stress run, and what is known of their keys.
final class FrontSubject: Sendable {
  /// How a key is treated, which its number tells.
  enum Kind: UInt64, CaseIterable {
    /// Stored and removed, and never evicted from the disk: a read misses it only when it should.
    case lasting
    /// Stored with expiries near and far.
    case expiring
    /// Loaded by whoever misses it, stored and removed.
    case loaded
    /// In the cache in memory alone, where it is evicted.
    case memory
  }

  static let keysOfAKind: UInt64 = 16

  let cache: Cache<[UInt8]>
  /// A cache of its own, with several stripes and a limit that is always reached.
  let memory: MemoryCache<UInt64, StressValue>
  let counts: StressCounts
  private let oracles: [FreshnessOracle]
  /// Loads that run, by key.
  private let running = Mutex<[UInt64: Int]>([:])

  init(directory: String, _ counts: StressCounts) throws {
    self.counts = counts
    var configuration = CacheConfiguration()
    // A few dozen values, so that reads come from both tiers.
    configuration.memoryCostLimit = 64 << 10
    configuration.memorySweepInterval = .milliseconds(50)
    // Values of lasting keys are to stay: the disk has no limit.
    configuration.disk.sizeLimit = nil
    cache = try Cache(directory: directory, coder: .bytes, configuration: configuration)
    var memory = MemoryCache<UInt64, StressValue>.Configuration(
      countLimit: Int(Self.keysOfAKind) / 2)
    memory.stripes = 4
    memory.sweepInterval = .milliseconds(50)
    self.memory = MemoryCache(memory)
    oracles = (0..<Self.keysOfAKind * UInt64(Kind.allCases.count)).map { _ in FreshnessOracle() }
  }

  static func kind(of key: UInt64) -> Kind { Kind(rawValue: key / keysOfAKind) ?? .lasting }

  static func name(_ key: UInt64) -> String { "https://example.org/front/\(key)" }

  func oracle(_ key: UInt64) -> FreshnessOracle { oracles[Int(key)] }

  /// Announces a removal of every key of some kinds, and returns what ends it.
  func beginRemovals(of kinds: [Kind]) -> [(FreshnessOracle, UInt64)] {
    kinds.flatMap { kind in
      (0..<Self.keysOfAKind).map { number in
        let oracle = oracle(kind.rawValue * Self.keysOfAKind + number)
        return (oracle, oracle.begin(.removal))
      }
    }
  }

  /// Counts a load of a key that begins, and tells if it is not alone.
  func beginLoad(_ key: UInt64) {
    let count = running.withLock { running in
      running[key, default: 0] += 1
      return running[key, default: 0]
    }
    if count > 1 { counts.violation("loads_at_once", "\(count) of \(key)") }
  }

  func endLoad(_ key: UInt64) {
    running.withLock { $0[key, default: 0] -= 1 }
  }
}
