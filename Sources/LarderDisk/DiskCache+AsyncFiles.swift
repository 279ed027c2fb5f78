public import LarderBasics

// The asynchronous spelling of what works on files and directories as a whole. As in the other
// file, each runs the synchronous one on the cache's own threads; so do the closures.

extension DiskCache {
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

  /// Lends the open file of a value, which stays readable whatever happens to the entry. Counts as
  /// a use.
  ///
  /// - Throws: What the closure throws, and `CacheError` as `value(forKey:extending:)` does.
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

  /// Makes an entry of a file that was edited or made by hand: its content is taken as it is.
  public func stamp(
    _ name: String, expiration: Expiration? = nil
  ) async throws(CacheError) -> StampOutcome {
    try await executor.run("stamp") { () throws(CacheError) in
      try self.stamp(name, expiration: expiration)
    }
  }

  /// Starts to remove every value; when this returns, everything older is gone for this process.
  public func removeAllInBackground() async throws(CacheError) -> RemovalProgress {
    try await executor.run("removeAll") { () throws(CacheError) in
      try self.removeAllInBackground()
    }
  }

  /// What a walk through the directory counts, without opening a file.
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
