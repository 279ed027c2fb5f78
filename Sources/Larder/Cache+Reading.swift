extension Cache {
  /// Returns the value under a key, read with the given options; nil when there is no valid one.
  ///
  /// `.cacheOnly` and what concerns loads and their failures has no effect, because nothing is
  /// loaded. `.allowingExpired` has one, and `.reload` reads past the memory tier.
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
      let value = hit(key)
    {
      return value
    }
    return try valueFromDisk(key, options)
  }

  /// Returns the value under a key, read with the given options; nil when there is no valid one.
  public func value(
    forKey key: some CacheKeyConvertible, options: LoadOptions
  ) async throws(CacheError) -> Value? {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if let value = valueInMemory(key, options) { return value }
    try options.check()
    return try await value(forKey: key, options, isPastMemory: true)
  }

  /// Returns the value in memory if that may answer without a look at the disk.
  @inlinable @inline(__always)
  func valueInMemory(_ key: CacheKey, _ options: LoadOptions) -> Value? {
    options.mayAnswerFromMemory && !disk.isStrict ? hit(key) : nil
  }

  /// Looks for a value in memory, unless that was asked, then on disk, on the cache's threads.
  @usableFromInline func value(
    forKey key: CacheKey, _ options: LoadOptions, isPastMemory: Bool
  ) async throws(CacheError) -> Value? {
    if !isPastMemory, let value = valueInMemory(key, options) { return value }
    if options.isMemoryOnly && !disk.isStrict {
      flights.count { $0.repeatedMisses -= 1 }
      return nil
    }
    if !options.allowsExpired, !disk.isStrict, !disk.followsNeighbours || disk.engine.isWatchSettled
    {
      let subject = disk.subject(key)
      if let answer = try await disk.promptValue(subject, extending: options.extending) {
        guard let found = answer else { return nil }
        let value = decoded(found.bytes)
        if let value, !options.isDiskOnly { promote(value, subject, found) }
        return value
      }
    }
    return try await disk.executor.run("value", reads: true) { () throws(CacheError) in
      // On this thread, because learning of other processes' changes can take looks at their files.
      if self.disk.isStrict { return try self.value(forKey: key, options: options) }
      return try self.valueFromDisk(key, options)
    }
  }

  /// Reads a value from disk if the options allow it.
  @usableFromInline
  func valueFromDisk(_ key: CacheKey, _ options: LoadOptions) throws(CacheError) -> Value? {
    try options.check()
    if options.isMemoryOnly {
      flights.count { $0.repeatedMisses -= 1 }
      return nil
    }
    return try valueFromDisk(
      key, extending: options.extending,
      staleness: options.allowsExpired ? ReadContext.anyStaleness : .zero,
      isKept: !options.isDiskOnly)
  }

  /// Returns the value stored under a key, with its extended data, expiry and last access; nil when
  /// there is none. Counts as a use.
  ///
  /// Always read from the disk, because only the file has these.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - extending: The change that the read makes to the expiry; as configured when nil. A read
  ///     that allows expired values extends nothing.
  ///   - allowingExpired: Whether an expired value is returned too, for as long as its file exists:
  ///     at least for the configured `expiredGrace`, unless a limit needs its room. The default is
  ///     false.
  /// - Throws: `CacheError`, as `DiskCache.value(forKey:extending:)` does. A value that cannot be
  ///   decoded is a miss too.
  /// - Complexity: O(bytes).
  public func read(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    allowingExpired: Bool = false
  ) throws(CacheError) -> CachedValue<Value>? {
    let found = try disk.read(
      forKey: key, extending: extending, allowingExpired: allowingExpired)
    guard let found, let value = decoded(found.value) else { return nil }
    return CachedValue(
      value: value, extendedData: found.extendedData, expiry: found.expiry ?? .never,
      lastAccess: found.lastAccess, hasExpired: found.hasExpired)
  }

  /// Returns the value stored under a key, with its extended data, expiry and last access; nil when
  /// there is none. Counts as a use.
  public func read(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    allowingExpired: Bool = false
  ) async throws(CacheError) -> CachedValue<Value>? {
    try await disk.executor.run("read", reads: true, read, key.cacheKey, extending, allowingExpired)
  }

  /// Gives a value another expiry, counted from now, without writing its content.
  ///
  /// Counts as a use. The next read comes from the disk and keeps the value in memory again, for no
  /// longer than the new expiry allows. `.expired` ends a valid value, of which running loads store
  /// nothing then, and keeps its file for a load that revalidates it.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - expiration: The lifetime of the value from now; the configured one when nil.
  ///   - allowingExpired: Whether an expired value whose file still exists becomes valid again. The
  ///     default is false.
  /// - Returns: Whether there was a value; not one that is absent, expired or in memory alone.
  /// - Throws: `CacheError`, as `DiskCache.touch(forKey:expiration:allowingExpired:)` does.
  /// - Complexity: O(1); a value that waits to be written is written first, in O(bytes).
  @discardableResult
  public func touch(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    allowingExpired: Bool = false
  ) throws(CacheError) -> Bool {
    try disk.touch(forKey: key, expiration: expiration, allowingExpired: allowingExpired)
  }

  /// Gives a value another expiry, from now, without writing it. Returns whether there was one.
  @discardableResult
  public func touch(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    allowingExpired: Bool = false
  ) async throws(CacheError) -> Bool {
    try await disk.touch(forKey: key, expiration: expiration, allowingExpired: allowingExpired)
  }
}
