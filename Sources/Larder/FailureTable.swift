import LarderBasics
import LarderSystem

/// The errors of loads that failed a short time ago.
package struct FailureTable: Sendable {
  private struct Failure: Sendable {
    let error: any Error
    let expiry: Timestamp
  }

  /// The most errors kept. When the table is full, the error that expires first makes room.
  static let countLimit = 1000

  private var failures: [CacheKey: Failure] = [:]

  /// The number of errors kept, including expired ones that were not asked for since.
  var count: Int { failures.count }

  /// Returns the error kept for a key, if it has not expired.
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

  /// Forgets a key's error, because the key was stored or removed.
  mutating func remove(_ key: CacheKey) {
    failures[key] = nil
  }
}
