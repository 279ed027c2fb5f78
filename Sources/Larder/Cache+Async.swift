import LarderBasics
import LarderDisk

extension Cache {
  /// Returns the value stored under a key; at once from memory, without a switch of threads, unless
  /// `.strict` has to learn first of changes by other processes. From the disk without a switch too
  /// if the kernel has it in memory; the coder then decodes on this thread.
  @inlinable
  public func value(forKey key: some CacheKeyConvertible) async throws(CacheError) -> Value? {
    try disk.checkUsable("value")
    let key = key.cacheKey
    // On this thread, because a value in memory needs no other.
    if !disk.isStrict, let value = hit(key) { return value }
    return try await value(forKey: key, LoadOptions(), isPastMemory: true)
  }

  /// Stores a value in both tiers in place of an older one.
  @discardableResult
  public func store(
    _ value: Value, forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    try await disk.executor.run(
      "store", replaces: true, store, value, key.cacheKey, expiration, extendedData)
  }

  /// Removes a value from both tiers and returns whether there was one, valid or expired.
  @discardableResult
  public func remove(forKey key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    try await disk.executor.run("remove", remove(forKey:), key.cacheKey)
  }

  /// Removes every value from both tiers and waits for the end.
  @discardableResult
  public func removeAll() async throws(CacheError) -> BulkRemoval {
    try await disk.removeAll()
  }

  /// Starts to remove every value; when this returns, everything older is gone for this process.
  public func removeAllInBackground() async throws(CacheError) -> RemovalProgress {
    try await disk.removeAllInBackground()
  }

  /// Removes expired values from both tiers.
  @discardableResult
  public func removeExpired() async throws(CacheError) -> BulkRemoval {
    try await disk.longExecutor.run("removeExpired", removeExpired)
  }

  /// Returns the tier that would answer a read now; nil for none. Does not count as a use.
  public func tier(forKey key: some CacheKeyConvertible) async throws(CacheError) -> CacheTier? {
    try await disk.executor.run("tier", reads: true, tier, key.cacheKey)
  }

  /// Whether a read would find a value. Does not count as a use.
  public func contains(_ key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    try disk.checkUsable("contains")
    let key = key.cacheKey
    if !disk.isStrict {
      if memory.contains(key) { return true }
      if let answer = try await disk.promptContains(disk.subject(key)) { return answer }
    }
    return try await disk.executor.run("contains", reads: true, contains, key)
  }

  /// Removes the least recently used values from both tiers until at most `count` are left in each.
  @discardableResult
  public func trim(toCount count: Int) async throws(CacheError) -> BulkRemoval {
    try await disk.longExecutor.run("trim", trim(toCount:), count)
  }

  /// Removes the least recently used values from both tiers until each takes at most `cost` bytes.
  @discardableResult
  public func trim(toCost cost: Int) async throws(CacheError) -> BulkRemoval {
    try await disk.longExecutor.run("trim", trim(toCost:), cost)
  }

  /// Removes the values whose last use is longer ago than `age` from both tiers.
  @discardableResult
  public func trim(toAge age: Duration) async throws(CacheError) -> BulkRemoval {
    try await disk.longExecutor.run("trim", trim(toAge:), age)
  }

  /// Waits until everything accepted is on disk.
  public func flush() async throws(CacheError) {
    try await disk.flush()
  }

  /// Waits until all that was accepted is on disk, and detaches; also in a cancelled task.
  public func close() async throws(CacheError) {
    try await disk.longExecutor.run("close", toEnd: true, close)
  }

  /// Reads many values at once, in parallel on the cache's threads.
  ///
  /// - Returns: For each key, in the order given, its value, nil, or the error of its read.
  public func values(
    forKeys keys: [some CacheKeyConvertible]
  ) async -> [Result<Value?, CacheError>] {
    // Keys are converted here, in the caller's task: a type of the caller need not be Sendable.
    await disk.executor.map(keys.map(\.cacheKey), value(forKey:))
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
  /// - Returns: For each key, in order, whether there was a value, or the error of its removal.
  @discardableResult
  public func remove(forKeys keys: [some CacheKeyConvertible]) async -> [Result<Bool, CacheError>] {
    await disk.executor.map(keys.map(\.cacheKey), remove(forKey:))
  }
}
