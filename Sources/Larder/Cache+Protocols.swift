import LarderBasics
import LarderDisk
import LarderMemory

extension Cache: Caching {
  /// Stores a value in both tiers in place of an older one.
  @discardableResult
  public func store(
    _ value: Value, forKey key: CacheKey, expiration: Expiration?
  ) throws(CacheError) -> StoreOutcome {
    try store(value, forKey: key, expiration: expiration, extendedData: [])
  }
}

extension Cache: Trimming {
  /// Removes the least recently used values from both tiers until at most `count` are left in each.
  @discardableResult
  public func trim(toCount count: Int) throws(CacheError) -> BulkRemoval {
    memory.trim(toCount: count)
    return try disk.trim(toCount: count)
  }

  /// Removes the least recently used values from both tiers until each takes at most `cost` bytes.
  @discardableResult
  public func trim(toCost cost: Int) throws(CacheError) -> BulkRemoval {
    memory.trim(toCost: cost)
    return try disk.trim(toCost: cost)
  }

  /// Removes the values whose last use is longer ago than `age` from both tiers.
  @discardableResult
  public func trim(toAge age: Duration) throws(CacheError) -> BulkRemoval {
    memory.trim(toAge: age)
    return try disk.trim(toAge: age)
  }
}

extension DiskCache: Caching {
  /// Returns the value stored under a key; nil when there is no valid one. Counts as a use.
  public func value(forKey key: CacheKey) throws(CacheError) -> [UInt8]? {
    try value(forKey: key, extending: nil)
  }

  /// Stores a value in place of an older one.
  @discardableResult
  public func store(
    _ value: [UInt8], forKey key: CacheKey, expiration: Expiration?
  ) throws(CacheError) -> StoreOutcome {
    try store(value, forKey: key, expiration: expiration, extendedData: [])
  }
}

extension DiskCache: Trimming {}

extension Cache: MemoryPressureResponding {
  /// Frees memory of the memory tier, or lets it fill again. The disk tier keeps its values.
  public func respond(to step: MemoryPressureStep) {
    memory.respond(to: step)
  }
}

extension Cache {
  /// Returns a sequence of the values that leave this cache from now on, and the causes. These are
  /// the values that leave its disk tier, as in ``DiskCache/removals(bufferingNewest:)``.
  ///
  /// A value that the memory tier drops to keep to its limits is still on disk; the removals of
  /// ``memory`` report it.
  ///
  /// - Parameter limit: The most events that wait for the task, at least 1.
  public func removals(bufferingNewest limit: Int = 100) -> RemovalEvents<DiskRemovalEvent> {
    disk.removals(bufferingNewest: limit)
  }
}
