extension Cache {
  /// The value stored under a key, found as the options say; nil when there is none that is valid.
  ///
  /// Without a load, `.cacheOnly`, `staleIfFailing`, `failureLifetime` and `staleWhileRevalidating`
  /// say nothing, and `.reload` reads past the memory tier.
  ///
  /// - Throws: `CacheError`, as `value(forKey:)` does.
  /// - Complexity: O(1) from memory, O(bytes) from disk.
  @inlinable
  public func value(
    forKey key: some CacheKeyConvertible, options: LoadOptions
  ) throws(CacheError) -> Value? {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if options.mayAnswerFromMemory, disk.mayAnswerFromMemory(),
      let value = memory.value(forKey: key)
    {
      return value
    }
    return try valueFromDisk(key, options)
  }

  /// The value stored under a key, found as the options say; nil when there is none that is valid.
  public func value(
    forKey key: some CacheKeyConvertible, options: LoadOptions
  ) async throws(CacheError) -> Value? {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if options.mayAnswerFromMemory, !disk.isStrict, let value = memory.value(forKey: key) {
      return value
    }
    return try await value(forKey: key, options, isPastMemory: true)
  }

  /// Looks for a value on the cache's threads, and not in memory if that was asked already.
  func value(
    forKey key: CacheKey, _ options: LoadOptions, isPastMemory: Bool
  ) async throws(CacheError) -> Value? {
    if !isPastMemory, options.mayAnswerFromMemory, !disk.isStrict,
      let value = memory.value(forKey: key)
    {
      return value
    }
    if options.isMemoryOnly && !disk.isStrict { return nil }
    return try await disk.executor.run("value") { () throws(CacheError) in
      // What others have done is learnt here, because that can take looks at their files.
      if self.disk.isStrict { return try self.value(forKey: key, options: options) }
      return try self.valueFromDisk(key, options)
    }
  }

  /// Reads a value from disk if the options allow it.
  @usableFromInline
  func valueFromDisk(_ key: CacheKey, _ options: LoadOptions) throws(CacheError) -> Value? {
    options.checkPreconditions()
    if options.isMemoryOnly { return nil }
    return try valueFromDisk(
      key, extending: options.extending ?? disk.extending,
      staleness: options.allowsExpired ? DiskEngine.anyStaleness : .zero,
      isKept: !options.isDiskOnly)
  }

  /// The value stored under a key, with its extended data, expiry and last access; nil when there is
  /// none. Counts as a use.
  ///
  /// Always from the disk, because what stands beside the value is only there.
  ///
  /// - Parameters:
  ///   - key: What the value is found by.
  ///   - extending: What the read does to the expiry; as configured when nil. A read that allows
  ///     expired values extends nothing.
  ///   - allowingExpired: Whether an expired value is returned too, for as long as its file is there:
  ///     at least for the configured `expiredGrace`, unless a limit needs its room. The default is
  ///     false.
  /// - Throws: `CacheError`: `.resourcesExhausted`, `.closed`, `.forked`. Anything else is a miss
  ///   with a counted reason, also that the value cannot be decoded.
  /// - Complexity: O(bytes).
  public func read(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    allowingExpired: Bool = false
  ) throws(CacheError) -> CachedValue<Value>? {
    let found = try disk.read(
      forKey: key, extending: extending, allowingExpired: allowingExpired)
    guard let found, let value = decoded(found.bytes) else { return nil }
    return CachedValue(
      value: value, extendedData: found.extendedData, expiry: found.expiry,
      lastAccess: found.lastAccess, hasExpired: found.hasExpired)
  }

  /// The value stored under a key, with its extended data, expiry and last access; nil when there is
  /// none. Counts as a use.
  public func read(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    allowingExpired: Bool = false
  ) async throws(CacheError) -> CachedValue<Value>? {
    let key = key.cacheKey
    return try await disk.executor.run("read") { () throws(CacheError) in
      try self.read(forKey: key, extending: extending, allowingExpired: allowingExpired)
    }
  }

  /// What is known of a key's entry on disk without its value. Does not count as a use.
  ///
  /// - Parameters:
  ///   - key: What the value is found by.
  ///   - allowingExpired: Whether an expired entry is told of too, for as long as its file is there.
  ///     The default is false.
  /// - Throws: `CacheError`: `.resourcesExhausted`, `.closed`, `.forked`.
  /// - Complexity: O(1): reads status and attributes, not the content.
  public func entry(
    forKey key: some CacheKeyConvertible, allowingExpired: Bool = false
  ) throws(CacheError) -> DiskEntry? {
    try disk.entry(forKey: key, allowingExpired: allowingExpired)
  }

  /// What is known of a key's entry on disk without its value. Does not count as a use.
  public func entry(
    forKey key: some CacheKeyConvertible, allowingExpired: Bool = false
  ) async throws(CacheError) -> DiskEntry? {
    try await disk.entry(forKey: key, allowingExpired: allowingExpired)
  }

  /// Gives a value another expiry, counted from now, without writing its content.
  ///
  /// Counts as a use. The next read comes from the disk and keeps the value in memory again, for no
  /// longer than the new expiry allows. `.expired` ends the value's validity now and leaves its file
  /// for a load that revalidates it.
  ///
  /// - Parameters:
  ///   - key: What the value is found by.
  ///   - expiration: How long the value is valid from now; the configured time when nil.
  ///   - allowingExpired: Whether an expired value that is still there becomes valid again. The
  ///     default is false.
  /// - Returns: Whether there was a value. `false` for one that is absent, expired or in memory alone.
  /// - Throws: `CacheError`, as `DiskCache.touch(forKey:expiration:allowingExpired:)` does.
  /// - Complexity: O(1); a value that waits to be written is written first, in O(bytes).
  @discardableResult
  public func touch(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    allowingExpired: Bool = false
  ) throws(CacheError) -> Bool {
    try disk.touch(forKey: key, expiration: expiration, allowingExpired: allowingExpired)
  }

  /// Gives a value another expiry, counted from now, without writing its content, and returns whether
  /// there was one.
  @discardableResult
  public func touch(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    allowingExpired: Bool = false
  ) async throws(CacheError) -> Bool {
    try await disk.touch(forKey: key, expiration: expiration, allowingExpired: allowingExpired)
  }
}
