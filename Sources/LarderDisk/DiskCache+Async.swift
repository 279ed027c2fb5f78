public import LarderBasics

// The asynchronous form of every operation that may touch the disk. Each runs the synchronous one
// on the cache's own threads and makes the same promises. A task that is cancelled before the work
// begins gets `.cancelled`.

extension DiskCache {
  /// Stores a value and replaces an older one.
  @discardableResult
  public func store(
    _ value: [UInt8], forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    let key = key.cacheKey
    return try await executor.run("store", replaces: true) { () throws(CacheError) in
      try self.store(value, forKey: key, expiration: expiration, extendedData: extendedData)
    }
  }

  /// Stores the content of a file, which stays where it is.
  @discardableResult
  public func store(
    contentsOfFile path: String, forKey key: some CacheKeyConvertible,
    expiration: Expiration? = nil, extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    let key = key.cacheKey
    return try await executor.run("store", replaces: true) { () throws(CacheError) in
      try self.store(
        contentsOfFile: path, forKey: key, expiration: expiration, extendedData: extendedData)
    }
  }

  /// Stores a value unless there is one. If there is, the store is rejected with `.alreadyPresent`.
  @discardableResult
  public func storeIfAbsent(
    _ value: [UInt8], forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    let key = key.cacheKey
    return try await executor.run("store", replaces: true) { () throws(CacheError) in
      try self.storeIfAbsent(value, forKey: key, expiration: expiration, extendedData: extendedData)
    }
  }

  /// Returns the value stored under a key; nil if there is none that is valid. Counts as a use.
  public func value(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil
  ) async throws(CacheError) -> [UInt8]? {
    let key = key.cacheKey
    return try await executor.run("value") { () throws(CacheError) in
      try self.value(forKey: key, extending: extending)
    }
  }

  /// Returns the value stored under a key with its extended data, expiry and last access. Returns
  /// an expired value too if that is allowed. Counts as a use.
  public func read(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    allowingExpired: Bool = false
  ) async throws(CacheError) -> DiskValue? {
    let key = key.cacheKey
    return try await executor.run("read") { () throws(CacheError) in
      try self.read(forKey: key, extending: extending, allowingExpired: allowingExpired)
    }
  }

  /// Gives an entry another expiry, counted from now, without writing its content, and returns
  /// whether there was a value. Counts as a use.
  @discardableResult
  public func touch(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    allowingExpired: Bool = false
  ) async throws(CacheError) -> Bool {
    let key = key.cacheKey
    return try await executor.run("touch") { () throws(CacheError) in
      try self.touch(forKey: key, expiration: expiration, allowingExpired: allowingExpired)
    }
  }

  /// Whether a read would find a value. Does not count as a use.
  public func contains(_ key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    let key = key.cacheKey
    return try await executor.run("contains") { () throws(CacheError) in try self.contains(key) }
  }

  /// Returns the entry of a key without its value. Returns an expired entry too if that is allowed.
  /// Does not count as a use.
  public func entry(
    forKey key: some CacheKeyConvertible, allowingExpired: Bool = false
  ) async throws(CacheError) -> DiskEntry? {
    let key = key.cacheKey
    return try await executor.run("entry") { () throws(CacheError) in
      try self.entry(forKey: key, allowingExpired: allowingExpired)
    }
  }

  /// Returns all entries, including expired ones, in the order of their names.
  public func entries() async throws(CacheError) -> [DiskEntry] {
    try await executor.run("entries") { () throws(CacheError) in try self.entries() }
  }

  /// Returns the bytes of all values together. Waits for the first scan.
  public func totalSize() async throws(CacheError) -> Int {
    try await executor.run("totalSize") { () throws(CacheError) in try self.totalSize() }
  }

  /// Returns the bytes that the file system set aside for all values. Waits for the first scan.
  public func totalAllocatedSize() async throws(CacheError) -> Int {
    try await executor.run("totalAllocatedSize") { () throws(CacheError) in
      try self.totalAllocatedSize()
    }
  }

  /// Returns the number of entries. Waits for the first scan.
  public func count() async throws(CacheError) -> Int {
    try await executor.run("count") { () throws(CacheError) in try self.count() }
  }
}

extension DiskCache {
  /// Removes a value and returns whether there was one, valid or expired.
  @discardableResult
  public func remove(forKey key: some CacheKeyConvertible) async throws(CacheError) -> Bool {
    let key = key.cacheKey
    return try await executor.run("remove") { () throws(CacheError) in
      try self.remove(forKey: key)
    }
  }

  /// Removes every entry and waits for the end.
  @discardableResult
  public func removeAll() async throws(CacheError) -> BulkRemoval {
    try await executor.run("removeAll") { () throws(CacheError) in try self.removeAll() }
  }

  /// Removes the expired entries, and those older than the age limit.
  @discardableResult
  public func removeExpired() async throws(CacheError) -> BulkRemoval {
    try await executor.run("removeExpired") { () throws(CacheError) in try self.removeExpired() }
  }

  /// Removes expired entries, then the least recently used, down to a number of bytes.
  @discardableResult
  public func trim(toCost byteCount: Int) async throws(CacheError) -> BulkRemoval {
    try await executor.run("trim") { () throws(CacheError) in try self.trim(toCost: byteCount) }
  }

  /// Removes expired entries, then the least recently used, down to a number of entries.
  @discardableResult
  public func trim(toCount count: Int) async throws(CacheError) -> BulkRemoval {
    try await executor.run("trim") { () throws(CacheError) in try self.trim(toCount: count) }
  }

  /// Removes expired entries, and those whose last access was an age ago or earlier.
  @discardableResult
  public func trim(toAge age: Duration) async throws(CacheError) -> BulkRemoval {
    try await executor.run("trim") { () throws(CacheError) in try self.trim(toAge: age) }
  }

  /// Waits until pending uses are stamped and the files of evicted entries are gone.
  public func flush() async throws(CacheError) {
    try await executor.run("flush") { () throws(CacheError) in try self.flush() }
  }

  /// Waits until everything accepted is on disk, and detaches from the directory.
  public func close() async throws(CacheError) {
    try await executor.run("close") { () throws(CacheError) in try self.close() }
  }
}
