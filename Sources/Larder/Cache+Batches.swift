import LarderBasics
import LarderDisk

extension Cache {
  /// Reads many values at once, in parallel on the cache's threads.
  ///
  /// - Returns: For each key, in the order given, its value, nil, or the error of its read.
  public func values(
    forKeys keys: [some CacheKeyConvertible]
  ) async -> [Result<Value?, CacheError>] {
    // Keys are converted here, in the caller's task, because a type of the caller need not be
    // Sendable.
    await disk.executor.map(keys.map(\.cacheKey)) { (key) throws(CacheError) in
      try self.value(forKey: key)
    }
  }

  /// Stores many values at once, in parallel on the cache's threads. If a key occurs twice, either
  /// of its values may be stored last.
  ///
  /// - Returns: For each value, in the order given, the outcome or the error of its store.
  @discardableResult
  public func store(
    contentsOf values: [(key: some CacheKeyConvertible, value: Value)],
    expiration: Expiration? = nil
  ) async -> [Result<StoreOutcome, CacheError>] {
    let pairs = values.map { (key: $0.key.cacheKey, value: $0.value) }
    return await disk.executor.map(pairs, replaces: true) { (pair) throws(CacheError) in
      try self.store(pair.value, forKey: pair.key, expiration: expiration)
    }
  }

  /// Removes many values at once, in parallel on the cache's threads.
  ///
  /// - Returns: For each key, in the order given, whether there was a value, or the error of its
  ///   removal.
  @discardableResult
  public func remove(
    forKeys keys: [some CacheKeyConvertible]
  ) async -> [Result<Bool, CacheError>] {
    await disk.executor.map(keys.map(\.cacheKey)) { (key) throws(CacheError) in
      try self.remove(forKey: key)
    }
  }
}
