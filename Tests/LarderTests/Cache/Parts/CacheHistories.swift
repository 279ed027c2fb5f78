import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// The calls and settings of histories of a cache with two tiers.
struct CacheHistories: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let seed: UInt64
  let mixture: [Call]
  var dates: [Int?] = [nil]

  func script(_ history: Int, _ thread: Int) -> [Call] {
    var shared = SeededRandom(seed: seed << 32 | UInt64(history))
    guard thread < Int.random(in: 2...4, using: &shared) else { return [] }
    var random = SeededRandom(seed: shared.next() &+ UInt64(thread))
    return (0..<Int.random(in: 3...5, using: &random)).map { step in
      let key = Int.random(in: 0..<2, using: &random)
      switch mixture[Int.random(in: mixture.indices, using: &random)] {
      case .value: return .value(key)
      case .contains: return .contains(key)
      case .store:
        let date = dates[Int.random(in: dates.indices, using: &random)]
        return .store(key, "\(thread).\(step)", until: date)
      case .remove: return .remove(key)
      case let other: return other
      }
    }
  }

  static let table = [
    CacheHistories(
      testDescription: "values", seed: 11,
      mixture: [
        .value(0), .value(0), .value(0), .store(0, "", until: nil), .store(0, "", until: nil),
        .remove(0), .contains(0), .forget, .forget,
      ]),
    CacheHistories(
      testDescription: "values that expire", seed: 12,
      mixture: [
        .value(0), .value(0), .value(0), .store(0, "", until: nil), .store(0, "", until: nil),
        .remove(0), .contains(0), .forget, .advance(1),
      ], dates: [nil, 1, 2, 3]),
    CacheHistories(
      testDescription: "everything is removed", seed: 13,
      mixture: [
        .value(0), .value(0), .store(0, "", until: nil), .store(0, "", until: nil), .removeAll,
        .forget,
      ]),
  ]
}

extension CacheHistories {
  enum Call: Sendable, Hashable {
    case value(Int)
    case contains(Int)
    /// Stores a value that expires some seconds after the start of the history.
    case store(Int, String, until: Int?)
    case remove(Int)
    case removeAll
    /// Empties the memory tier, which no caller may notice.
    case forget
    case advance(Int)
  }

  enum Outcome: Sendable, Hashable {
    case value(String?)
    case flag(Bool)
    case done
    case failed(CacheError.Code)
  }

  /// A cache in its own directory, with its clock.
  final class Subject: Sendable {
    let cache: Cache<String>
    let clock = ManualClock(Subject.start)
    private static let start = Timestamp(seconds: 1_800_000_000)

    init(directory: String) throws {
      var configuration = CacheConfiguration()
      configuration.disk.clock = clock.wallClock
      // Without a limit and so without a scan, which would make the 400 caches of a test slow.
      configuration.disk.sizeLimit = nil
      cache = try Cache(directory: directory, coder: .string, configuration: configuration)
    }

    func perform(_ call: Call) -> Outcome {
      do throws(CacheError) {
        switch call {
        case .value(let key): return .value(try cache.value(forKey: "\(key)"))
        case .contains(let key): return .flag(try cache.contains("\(key)"))
        case .store(let key, let value, let seconds):
          // A date, because a lifetime begins when the store reads the clock, a while before it
          // takes effect.
          let date = seconds.map { Subject.start.adding(seconds: Int64($0)) }
          try cache.store(value, forKey: "\(key)", expiration: date.map { .date($0) } ?? .never)
          return .done
        case .remove(let key): return .flag(try cache.remove(forKey: "\(key)"))
        case .removeAll:
          try cache.removeAll()
          return .done
        case .forget:
          cache.memory.removeAll()
          return .done
        case .advance(let seconds):
          clock.advance(by: .seconds(seconds))
          return .done
        }
      } catch {
        return .failed(error.code)
      }
    }
  }
}
