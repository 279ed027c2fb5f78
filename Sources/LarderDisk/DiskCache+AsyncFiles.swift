public import LarderBasics

// The asynchronous form of the operations on files and on the whole directory. As in
// DiskCache+Async.swift, each runs the synchronous one on the cache's own threads, and so do the
// closures.

extension DiskCache {
  /// Runs a synchronous call on the cache's own threads, for modules that add calls.
  package func runBlocking<Result: Sendable>(
    _ operation: String, replaces: Bool = false,
    _ work: @escaping @Sendable () throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try await executor.run(operation, replaces: replaces, work)
  }

  /// Stores a value that a closure writes in pieces, none of which is kept in memory.
  @discardableResult
  public func store(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [], _ body: @escaping @Sendable (inout EntryStream) throws -> Void
  ) async throws(CacheError) -> StoreOutcome {
    let key = key.cacheKey
    return try await executor.run("store", replaces: true) { () throws(CacheError) in
      try self.store(forKey: key, expiration: expiration, extendedData: extendedData, body)
    }
  }

  /// Lends the open file of a value. It stays readable even if the entry is replaced or removed.
  /// Counts as a use.
  ///
  /// - Throws: The closure's error, or `CacheError` as `value(forKey:extending:)` does.
  public func withFile<Result: Sendable>(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    _ body: @escaping @Sendable (borrowing EntryFile) throws -> Result
  ) async throws -> Result? {
    let key = key.cacheKey
    let outcome = try await executor.run("withFile") {
      Swift.Result { try self.withFile(forKey: key, extending: extending, body) }
    }
    return try outcome.get()
  }

  /// Makes an entry of a file that was edited or made by hand. Its content stays as it is.
  public func stamp(
    _ name: String, expiration: Expiration? = nil
  ) async throws(CacheError) -> StampOutcome {
    try await executor.run("stamp") { () throws(CacheError) in
      try self.stamp(name, expiration: expiration)
    }
  }

  /// Starts to remove every value. When this returns, reads in this process find none of the older
  /// values.
  public func removeAllInBackground() async throws(CacheError) -> RemovalProgress {
    try await executor.run("removeAll") { () throws(CacheError) in
      try self.removeAllInBackground()
    }
  }

  /// Counts the contents of the directory by walking through it, without opening a file.
  public func survey() async throws(CacheError) -> DirectorySurvey {
    try await executor.run("survey") { () throws(CacheError) in try self.survey() }
  }

  /// Compares every entry with its hash and name, and removes the damaged ones if asked to.
  public func verify(
    repairs: Bool = false,
    _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws(CacheError) -> Verification {
    try await executor.run("verify") { () throws(CacheError) in
      try self.verify(repairs: repairs, progress)
    }
  }
}

// The asynchronous form of the operations that select entries; see DiskCache+Async.swift.

extension DiskCache {
  /// Returns all entries, including expired ones, in an order.
  public func entries(order: DiskEntry.Order) async throws(CacheError) -> [DiskEntry] {
    try await executor.run("entries") { () throws(CacheError) in try self.entries(order: order) }
  }

  /// Returns the keys of all entries whose files record them, the least recently used first.
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

  /// Removes a value and returns it; nil if there was none that is valid.
  @discardableResult
  public func removeValue(
    forKey key: some CacheKeyConvertible
  ) async throws(CacheError) -> [UInt8]? {
    let key = key.cacheKey
    return try await executor.run("remove") { () throws(CacheError) in
      try self.removeValue(forKey: key)
    }
  }

  /// Removes the entries that a closure chooses, including expired ones, and waits for the end.
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
