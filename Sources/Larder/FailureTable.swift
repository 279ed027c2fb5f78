import LarderBasics
import LarderSystem

/// The errors of loads that failed a short time ago.
package struct FailureTable: Sendable {
  private struct Failure: Sendable {
    let error: any Error
    let expiry: Timestamp
  }

  /// The most errors kept; beyond it the one that ends first makes room.
  static let countLimit = 1000

  private var failures: [CacheKey: Failure] = [:]

  /// The errors kept, those that no longer stand and were not asked for since included.
  var count: Int { failures.count }

  /// The error that still stands for a key.
  ///
  /// - Complexity: O(1).
  mutating func error(for key: CacheKey, at now: Timestamp) -> (any Error)? {
    guard let failure = failures[key] else { return nil }
    if failure.expiry > now { return failure.error }
    failures[key] = nil
    return nil
  }

  /// Keeps an error.
  ///
  /// - Complexity: O(1), and O(`countLimit`) when the table is full.
  mutating func add(_ error: any Error, for key: CacheKey, until expiry: Timestamp) {
    if failures.count >= Self.countLimit, failures[key] == nil {
      let first = failures.min { $0.value.expiry < $1.value.expiry }
      if let first { failures[first.key] = nil }
    }
    failures[key] = Failure(error: error, expiry: expiry)
  }

  /// Forgets a key's error, because there is a value now.
  mutating func remove(_ key: CacheKey) {
    failures[key] = nil
  }
}
