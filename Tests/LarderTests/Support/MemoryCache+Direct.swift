@testable import Larder
@testable import LarderBasics
@testable import LarderMemory
@testable import LarderSystem

extension MemoryCache {
  /// Promotes a value as `Cache` does, at the present time, and tells of what leaves for it.
  @discardableResult
  func storeIf(
    _ isCurrent: () -> Bool, _ value: Value, forKey key: Key, cost: Int, expiration: Expiration,
    ceiling: Timestamp?, slides: Bool = true
  ) -> StoreOutcome {
    var removals = LarderMemory.Removals<Key, Value>()
    let outcome = storeIf(
      isCurrent, value, forKey: key, cost: cost, expiration: expiration, ceiling: ceiling,
      slides: slides, at: timeToStore(expiration, ceiling), into: &removals)
    finish(&removals)
    return outcome
  }

  /// Removes the value of a key for any cause, also for one that the memory tier has not.
  func remove(forKey key: Key, cause: RemovalCause) {
    var removals = LarderMemory.Removals<Key, Value>()
    _ = remove(key, cause, at: timeIfKept, into: &removals)
    finish(&removals)
  }
}
