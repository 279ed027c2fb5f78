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

  /// All errors that are kept.
  var errors: [any Error] { failures.values.map(\.error) }

  /// Returns the error kept for a key, if it has not expired.
  ///
  /// - Complexity: O(1).
  func error(for key: CacheKey, at now: Timestamp) -> (any Error)? {
    guard let failure = failures[key], failure.expiry > now else { return nil }
    return failure.error
  }

  /// Keeps an error. Returns the one that leaves for it, to be released without a lock.
  ///
  /// - Complexity: O(1), and O(`countLimit`) when the table is full.
  @discardableResult
  mutating func add(
    _ error: any Error, for key: CacheKey, until expiry: Timestamp
  ) -> (any Error)? {
    var old = failures.updateValue(Failure(error: error, expiry: expiry), forKey: key)
    if failures.count > Self.countLimit {
      let others = failures.lazy.filter { $0.key != key }
      let first = others.min { $0.value.expiry < $1.value.expiry }
      if let first { old = failures.removeValue(forKey: first.key) }
    }
    return old?.error
  }

  /// Forgets a key's error, because the key was stored or removed, and returns it.
  mutating func remove(_ key: CacheKey) -> (any Error)? {
    failures.removeValue(forKey: key)?.error
  }
}
