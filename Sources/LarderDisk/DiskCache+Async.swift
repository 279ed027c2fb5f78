public import LarderBasics

// The asynchronous form of every operation that may touch the disk. Each runs the synchronous one
// on the cache's own threads and makes the same promises. A task that is cancelled before the work
// begins gets `.cancelled`. `value` and `contains` first try without another thread.

extension DiskCache {
  /// Stores a value and replaces an older one.
  @discardableResult
  public func store(
    _ value: [UInt8], forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    try await executor.run(
      "store", replaces: true, store, value, key.cacheKey, expiration, extendedData)
  }

  /// Stores the content of a file, which stays where it is.
  @discardableResult
  public func store(
    contentsOfFile path: String, forKey key: some CacheKeyConvertible,
    expiration: Expiration? = nil, extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    try await executor.run(
      "store", replaces: true, store(contentsOfFile:forKey:expiration:extendedData:), path,
      key.cacheKey, expiration, extendedData)
  }

  /// Stores a value unless there is one. If there is, the store is rejected with `.alreadyPresent`.
  @discardableResult
  public func storeIfAbsent(
    _ value: [UInt8], forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    try await executor.run(
      "store", replaces: true, storeIfAbsent, value, key.cacheKey, expiration, extendedData)
  }

  /// Returns the value stored under a key; nil if there is none that is valid. Counts as a use.
  public func value(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil
  ) async throws(CacheError) -> [UInt8]? {
    let subject = subject(key)
    if let answer = try await promptValue(subject, extending: extending) {
      guard let found = answer else { return nil }
      return found.bytes
    }
    return try await executor.run("value", reads: true, value, subject.key, extending)
  }

  /// Returns the value stored under a key with its extended data, expiry and last access. Returns
  /// an expired value too if that is allowed. Counts as a use.
  public func read(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    allowingExpired: Bool = false
  ) async throws(CacheError) -> CachedValue<[UInt8]>? {
    try await executor.run("read", reads: true, read, key.cacheKey, extending, allowingExpired)
  }

  /// Gives an entry another expiry, counted from now, without writing its content, and returns
  /// whether there was a value. Counts as a use.
  @discardableResult
  public func touch(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    allowingExpired: Bool = false
  ) async throws(CacheError) -> Bool {
    try await executor.run("touch", touch, key.cacheKey, expiration, allowingExpired)
  }

  /// Whether a read would find a value. Does not count as a use.
  public func contains(_ key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    let subject = subject(key)
    if let answer = try await promptContains(subject) { return answer }
    return try await executor.run("contains", reads: true, contains, subject.key)
  }

  /// Returns the entry of a key without its value. Returns an expired entry too if that is allowed.
  /// Does not count as a use.
  public func entry(
    forKey key: some CacheKeyConvertible, allowingExpired: Bool = false
  ) async throws(CacheError) -> DiskEntry? {
    try await executor.run("entry", reads: true, entry, key.cacheKey, allowingExpired)
  }

  /// Returns the bytes of all values together, or of their blocks. Waits for the first scan.
  public func totalSize(_ measure: SizeMeasure = .bytes) async throws(CacheError) -> Int {
    try await longExecutor.run("totalSize", reads: true, totalSize, measure)
  }

  /// Returns the number of entries. Waits for the first scan.
  public func count() async throws(CacheError) -> Int {
    try await longExecutor.run("count", reads: true, count)
  }

  /// Removes a value and returns whether there was one, valid or expired.
  @discardableResult
  public func remove(forKey key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    try await executor.run("remove", remove, key.cacheKey)
  }

  /// Removes every entry and waits for the end.
  @discardableResult
  public func removeAll() async throws(CacheError) -> BulkRemoval {
    try await longExecutor.run("removeAll", removeAll)
  }

  /// Removes the expired entries, and those older than the age limit.
  @discardableResult
  public func removeExpired() async throws(CacheError) -> BulkRemoval {
    try await longExecutor.run("removeExpired", removeExpired)
  }

  /// Removes expired entries, then the least recently used, down to a number of bytes.
  @discardableResult
  public func trim(toCost byteCount: Int) async throws(CacheError) -> BulkRemoval {
    try await longExecutor.run("trim", trim(toCost:), byteCount)
  }

  /// Removes expired entries, then the least recently used, down to a number of entries.
  @discardableResult
  public func trim(toCount count: Int) async throws(CacheError) -> BulkRemoval {
    try await longExecutor.run("trim", trim(toCount:), count)
  }

  /// Removes expired entries, and those whose last access was an age ago or earlier.
  @discardableResult
  public func trim(toAge age: Duration) async throws(CacheError) -> BulkRemoval {
    try await longExecutor.run("trim", trim(toAge:), age)
  }

  /// Waits until pending uses are stamped and the files of evicted entries are gone.
  public func flush() async throws(CacheError) {
    try await longExecutor.run("flush", flush)
  }

  /// Waits until all that was accepted is on disk, and detaches; also in a cancelled task.
  public func close() async throws(CacheError) {
    try await longExecutor.run("close", toEnd: true, close)
  }

  /// Stores a value that a closure writes in pieces, none of which is kept in memory.
  ///
  /// The closure has a thread of its own while it runs, as that of `withFile` has.
  @discardableResult
  public func store(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [], _ body: @escaping @Sendable (inout EntryStream) throws -> Void
  ) async throws(CacheError) -> StoreOutcome {
    let key = key.cacheKey
    return try await longExecutor.run("store", replaces: true) { () throws(CacheError) in
      try self.store(forKey: key, expiration: expiration, extendedData: extendedData, body)
    }
  }

  /// Lends the open file of a value, readable also if it is replaced or removed. Counts as a use.
  ///
  /// The closure has a thread of its own while it runs, so that one which takes long delays no
  /// other call; at most 1,000 of one object run at once. To send the file through a socket, use
  /// the form with an asynchronous closure, which holds no thread while it waits.
  ///
  /// - Throws: The closure's error, or `CacheError` as `value(forKey:extending:)` does;
  ///   `.cancelled` at once when the task is cancelled before the closure has begun. A closure that
  ///   has begun is waited for, because its caller may free what it uses.
  public func withFile<Result: Sendable>(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    _ body: @escaping @Sendable (borrowing EntryFile) throws -> Result
  ) async throws -> Result? {
    guard let file = try await openFile(forKey: key, extending: extending) else { return nil }
    defer { file.end() }
    return try await longExecutor.run("withFile") { Swift.Result { try file.lend(to: body) } }.get()
  }

  /// Makes an entry of a file that was edited or made by hand. Its content stays as it is.
  public func stamp(
    _ name: String, expiration: Expiration? = nil
  ) async throws(CacheError) -> StampOutcome {
    try await executor.run("stamp", stamp, name, expiration)
  }

  /// Starts to remove every value. From its return on, reads in this process find no older one.
  public func removeAllInBackground() async throws(CacheError) -> RemovalProgress {
    try await executor.run("removeAll", removeAllInBackground)
  }

  /// Counts the contents of the directory by walking through it, without opening a file.
  public func survey() async throws(CacheError) -> DirectorySurvey {
    try await longExecutor.run("survey", reads: true, survey)
  }

  /// Compares every entry with its hash and name, and removes the damaged ones if asked to.
  public func verify(
    repairs: Bool = false,
    _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws(CacheError) -> Verification {
    try await longExecutor.run("verify") { () throws(CacheError) in
      try self.verify(repairs: repairs, progress)
    }
  }

  /// Returns all entries, including expired ones, in the order of their names or of their use.
  public func entries(byUse: Bool = false) async throws(CacheError) -> [DiskEntry] {
    try await longExecutor.run("entries", reads: true, entries(byUse:), byUse)
  }

  /// Returns the keys that files record; `entries()` has the others too, with a `key` that is nil.
  public func keys() async throws(CacheError) -> [CacheKey] {
    try await longExecutor.run("keys", reads: true, keys)
  }

  /// Removes a value and returns it; nil if there was none that is valid.
  @discardableResult
  public func removeValue(
    forKey key: some CacheKeyConvertible
  ) async throws(CacheError) -> [UInt8]? {
    try await executor.run("remove", removeValue, key.cacheKey)
  }

  /// Removes the entries that a closure chooses, including expired ones, and waits for the end.
  @discardableResult
  public func removeAll(
    where isChosen: @escaping @Sendable (DiskEntry) -> Bool
  ) async throws(CacheError) -> BulkRemoval {
    try await longExecutor.run("removeAll") { () throws(CacheError) in
      try self.removeAll(where: isChosen)
    }
  }

  /// Removes all variants of something that has a key, and the value of that key itself.
  @discardableResult
  public func removeVariants(
    of key: some CacheKeyConvertible
  ) async throws(CacheError) -> BulkRemoval {
    try await longExecutor.run("removeAll", removeVariants, key.cacheKey)
  }
}
