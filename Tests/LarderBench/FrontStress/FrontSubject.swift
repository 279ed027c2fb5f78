import Larder
import Synchronization

/// The caches of a front stress run, and the oracles of their keys.
final class FrontSubject: Sendable {
  /// The kind of a key, which follows from its number.
  enum Kind: UInt64, CaseIterable {
    /// Stored and removed, and never evicted from the disk. A read must find it unless it was
    /// removed.
    case lasting
    /// Stored with near and far expiries.
    case expiring
    /// Loaded after a miss, stored and removed.
    case loaded
    /// Stored in the separate memory cache only, where it is evicted.
    case memory
  }

  static let keysOfAKind: UInt64 = 16

  let cache: Cache<[UInt8]>
  /// A separate memory cache with several stripes. Its limit is always reached.
  let memory: MemoryCache<UInt64, StressValue>
  let counts: StressCounts
  private let oracles: [FreshnessOracle]
  /// The number of running loads of each key.
  private let running = Mutex<[UInt64: Int]>([:])

  init(directory: String, _ counts: StressCounts) throws {
    self.counts = counts
    var configuration = CacheConfiguration()
    // A few dozen values, so that reads come from both tiers.
    configuration.memoryCostLimit = 64 << 10
    configuration.memorySweepInterval = .milliseconds(50)
    // The disk has no limit, because values of lasting keys must stay.
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

  /// Records the begin of a removal of every key of some kinds. Returns the oracles and versions
  /// for recording the end.
  func beginRemovals(of kinds: [Kind]) -> [(FreshnessOracle, UInt64)] {
    kinds.flatMap { kind in
      (0..<Self.keysOfAKind).map { number in
        let oracle = oracle(kind.rawValue * Self.keysOfAKind + number)
        return (oracle, oracle.begin(.removal))
      }
    }
  }

  /// Counts a running load of a key. Reports a violation if another one is running.
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
