extension Cache {
  /// Runs file work on the cache's own threads.
  ///
  /// - Throws: What the work throws; `.cancelled` when the task was cancelled before it began.
  func hop<Result: Sendable>(
    _ operation: String, _ work: @escaping @Sendable () throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try await executor.run(operation, work)
  }

  /// The value stored under a key; one in memory is returned at once, without a hop.
  public func value(forKey key: some CacheKeyConvertible) async throws(CacheError) -> Value? {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if let value = memory.value(forKey: key) { return value }
    return try await hop("value") { () throws(CacheError) in try self.valueFromDisk(key) }
  }

  /// Stores a value in both tiers in place of what was there.
  @discardableResult
  public func store(
    _ value: Value, forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    let key = key.cacheKey
    return try await hop("store") { () throws(CacheError) in
      try self.store(value, forKey: key, expiration: expiration, extendedData: extendedData)
    }
  }

  /// Removes a value from both tiers and returns whether there was one, valid or expired.
  @discardableResult
  public func remove(forKey key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    let key = key.cacheKey
    return try await hop("remove") { () throws(CacheError) in try self.remove(forKey: key) }
  }

  /// Removes every value from both tiers and waits for the end.
  @discardableResult
  public func removeAll() async throws(CacheError) -> BulkRemoval {
    try await hop("removeAll") { () throws(CacheError) in try self.removeAll() }
  }

  /// Removes expired values from both tiers.
  @discardableResult
  public func removeExpired() async throws(CacheError) -> BulkRemoval {
    try await hop("removeExpired") { () throws(CacheError) in try self.removeExpired() }
  }

  /// Which tier would answer a read now; nil for none. Does not count as a use.
  public func tier(forKey key: some CacheKeyConvertible) async throws(CacheError) -> CacheTier? {
    let key = key.cacheKey
    return try await hop("tier") { () throws(CacheError) in try self.tier(forKey: key) }
  }

  /// Whether a read would find a value. Does not count as a use.
  public func contains(_ key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    let key = key.cacheKey
    return try await hop("contains") { () throws(CacheError) in try self.contains(key) }
  }

  /// Waits until everything accepted is on disk.
  public func flush() async throws(CacheError) {
    try await hop("flush") { () throws(CacheError) in try self.flush() }
  }

  /// Waits until everything accepted is on disk and detaches from the directory.
  public func close() async throws(CacheError) {
    try await hop("close") { () throws(CacheError) in try self.close() }
  }
}
