import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// A call of a thread of a history on a memory cache.
enum MemoryCall: Sendable, Hashable {
  case value(Int)
  case peek(Int)
  case contains(Int)
  case store(Int, Int, seconds: Int?)
  case remove(Int)
  case removeAll
  case trim(toCount: Int)
  case keys
  case count
  /// Moves the clock.
  case advance(Int)
  /// For the model: the reading of the clock by the call with a number, which the cache does before
  /// it takes its lock.
  case clock(Int)
  /// For the model: the rest of that call.
  indirect case later(Int, MemoryCall)
}

extension MemoryCall {
  /// Whether the effect depends on the clock by more than what has expired.
  var countsFromClock: Bool {
    switch self {
    case .value: true
    case .store(_, _, let seconds): seconds != nil
    default: false
    }
  }
}

/// The outcome of a call.
enum MemoryOutcome: Sendable, Hashable {
  case value(Int?)
  case flag(Bool)
  case number(Int)
  case keys([Int])
  case done
}

/// The settings of histories.
struct MemoryHistories: Sendable, CustomTestStringConvertible {
  let name: String
  let seed: UInt64
  let count: Int
  var countLimit: Int?
  var stripes = 1
  var lifetimes: [Int?] = [nil]
  /// The calls, each repeated by its frequency. The numbers in them are replaced.
  let mixture: [MemoryCall]

  var testDescription: String { name }

  private static let ofOneKey: [MemoryCall] = [
    .value(0), .value(0), .value(0), .store(0, 0, seconds: nil), .store(0, 0, seconds: nil),
    .store(0, 0, seconds: nil), .remove(0), .peek(0), .contains(0),
  ]

  static let table = [
    MemoryHistories(
      name: "the exact order of use", seed: 1, count: 800, countLimit: 2,
      mixture: ofOneKey + [.removeAll, .trim(toCount: 1), .keys, .count]),
    MemoryHistories(
      name: "expiry", seed: 2, count: 600, countLimit: 2, lifetimes: [nil, 2, 5],
      mixture: ofOneKey + [.removeAll, .keys, .advance(0), .advance(0)]),
    MemoryHistories(
      name: "several stripes", seed: 3, count: 600, stripes: 4, mixture: ofOneKey),
  ]

  /// Returns three to five calls of a thread. A history has two to four threads; the remaining ones
  /// get no calls.
  func script(_ history: Int, _ thread: Int) -> [MemoryCall] {
    var shared = SeededRandom(seed: seed << 32 | UInt64(history))
    guard thread < Int.random(in: 2...4, using: &shared) else { return [] }
    var random = SeededRandom(seed: shared.next() &+ UInt64(thread))
    return (0..<Int.random(in: 3...5, using: &random)).map { step in
      let key = Int.random(in: 0..<3, using: &random)
      switch mixture[Int.random(in: mixture.indices, using: &random)] {
      case .value: return .value(key)
      case .peek: return .peek(key)
      case .contains: return .contains(key)
      case .store:
        // Each store has another value, so that a read tells which one it saw.
        let lifetime = lifetimes[Int.random(in: lifetimes.indices, using: &random)]
        return .store(key, 10 * thread + step, seconds: lifetime)
      case .remove: return .remove(key)
      case .advance: return .advance(Int.random(in: 1...3, using: &random))
      case let other: return other
      }
    }
  }
}

/// A memory cache with its clock, as the subject of a history.
final class MemorySubject: Sendable {
  let cache: MemoryCache<Int, Int>
  let clock = ManualClock(Timestamp(seconds: 1_000))

  init(_ histories: MemoryHistories) {
    var configuration = MemoryCache<Int, Int>.Configuration(countLimit: histories.countLimit)
    configuration.extending = .lifetime
    configuration.stripes = histories.stripes
    configuration.sweepInterval = nil
    let clock = clock.wallClock
    // The cache's callbacks yield to other threads, so that these run between its steps.
    configuration.clock = WallClock {
      sched_yield()
      return clock.now()
    }
    configuration.cost = { key, _ in
      if key == 0 { sched_yield() }
      return 1
    }
    configuration.removalListener = { _, _, _ in sched_yield() }
    cache = MemoryCache(configuration)
  }

  func perform(_ call: MemoryCall) -> MemoryOutcome {
    switch call {
    case .value(let key): return .value(cache.value(forKey: key))
    case .peek(let key): return .value(cache.peek(key))
    case .contains(let key): return .flag(cache.contains(key))
    case .store(let key, let value, let seconds):
      cache.store(value, forKey: key, expiration: seconds.map { .seconds($0) } ?? .never)
      return .done
    case .remove(let key): return .flag(cache.remove(forKey: key))
    case .removeAll: return .number(cache.removeAll())
    case .trim(let count): return .number(cache.trim(toCount: count))
    case .keys: return .keys(cache.keys)
    case .count: return .number(cache.count)
    case .advance(let seconds):
      clock.advance(by: .seconds(seconds))
      return .done
    case .clock, .later: return .done
    }
  }
}
