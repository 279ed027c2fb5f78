public import LarderBasics

// The asynchronous spellings of what selects entries; see DiskCache+Async.swift.

extension DiskCache {
  /// All entries, expired ones included, in an order.
  public func entries(order: DiskEntry.Order) async throws(CacheError) -> [DiskEntry] {
    try await executor.run("entries") { () throws(CacheError) in try self.entries(order: order) }
  }

  /// The keys of all entries whose files say them, the least recently used first.
  public func keys() async throws(CacheError) -> [CacheKey] {
    try await executor.run("keys") { () throws(CacheError) in try self.keys() }
  }

  /// Whether there is no entry, valid or expired. Waits for the first scan.
  public func isEmpty() async throws(CacheError) -> Bool {
    try await executor.run("isEmpty") { () throws(CacheError) in try self.isEmpty() }
  }

  /// Whether a read would find a value. Does not count as a use.
  public func contains(forKey key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    try await contains(key)
  }

  /// Removes a value and returns it; nil when there was none that is valid.
  @discardableResult
  public func removeValue(
    forKey key: some CacheKeyConvertible
  ) async throws(CacheError) -> [UInt8]? {
    let key = key.cacheKey
    return try await executor.run("remove") { () throws(CacheError) in
      try self.removeValue(forKey: key)
    }
  }

  /// Removes the entries that a closure chooses, expired ones included, and waits for the end.
  @discardableResult
  public func removeAll(
    where isChosen: @escaping @Sendable (DiskEntry) -> Bool
  ) async throws(CacheError) -> BulkRemoval {
    try await executor.run("removeAll") { () throws(CacheError) in
      try self.removeAll(where: isChosen)
    }
  }

  /// Removes all variants of something that has a key, and the value of that key itself.
  @discardableResult
  public func removeVariants(
    of key: some CacheKeyConvertible
  ) async throws(CacheError) -> BulkRemoval {
    let key = key.cacheKey
    return try await executor.run("removeAll") { () throws(CacheError) in
      try self.removeVariants(of: key)
    }
  }
}
