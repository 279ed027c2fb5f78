public import LarderBasics

extension DiskCache {
  /// Removes a value and returns whether there was one, valid or expired.
  ///
  /// Removes no foreign file, whatever its name. If the directory is durable, the absence of the
  /// value is on the disk when this returns, even if another process removed it.
  ///
  /// - Throws: `CacheError`: `.readOnly`, `.permissionDenied`, `.closed`, `.forked`, `.io`.
  @discardableResult
  public func remove(forKey key: some CacheKeyConvertible) throws(CacheError) -> Bool {
    try checkUsable("remove")
    return try engine.countingErrors { () throws(CacheError) in
      try engine.remove(subject(key), cause: .explicit)
    }
  }

  /// Removes every entry and waits for the end. Entries that other processes use or store meanwhile
  /// may stay. Goes on past a failure.
  @discardableResult
  public func removeAll() throws(CacheError) -> BulkRemoval {
    let progress = try removeAllInBackground()
    return try engine.countingErrors { () throws(CacheError) in try progress.wait() }
  }

  /// Starts to remove every entry. When this returns, reads in this process find none of the older
  /// values and totals are 0.
  ///
  /// - Throws: `CacheError`: `.readOnly`, `.closed`, `.forked`, and the reason for which a
  ///   directory that has replaced this one may not be used. A failure to read the directory is
  ///   found later and thrown by `RemovalProgress.wait()`.
  /// - Complexity: O(n) in memory; the files are removed in the background.
  public func removeAllInBackground() throws(CacheError) -> RemovalProgress {
    try checkUsable("removeAll")
    return try engine.startClearing()
  }

  /// Removes the expired entries, and those older than the age limit.
  ///
  /// Waits for the first scan, and for the files to be gone.
  ///
  /// - Complexity: O(k log n) for k removed ones.
  /// - Throws: `CacheError`: `.readOnly`, `.closed`, `.forked`, and what the scan met.
  @discardableResult
  public func removeExpired() throws(CacheError) -> BulkRemoval {
    try checkUsable("removeExpired")
    return try engine.countingTrim("removeExpired") {
      TrimPlan(for: .living, at: $0, configuration)
    }
  }

  /// Removes expired entries, then the least recently used, until the values take at most this many
  /// bytes, by the configured measure.
  ///
  /// Waits for the first scan, and for the files to be gone. An entry that is used or replaced
  /// meanwhile stays and is not counted. A negative number traps.
  ///
  /// - Throws: `CacheError`: `.readOnly`, `.closed`, `.forked`, and what the scan met.
  /// - Complexity: O(k log n) for k removed ones.
  @discardableResult
  public func trim(toCost byteCount: Int) throws(CacheError) -> BulkRemoval {
    precondition(byteCount >= 0, "a size to trim to is negative")
    try checkUsable("trim")
    return try engine.countingTrim("trim") {
      TrimPlan(for: .size(byteCount), at: $0, configuration)
    }
  }

  /// Removes expired entries, then the least recently used, until there are at most this many.
  ///
  /// - Throws: `CacheError`, as `trim(toCost:)` does.
  /// - Complexity: O(k log n) for k removed ones.
  @discardableResult
  public func trim(toCount count: Int) throws(CacheError) -> BulkRemoval {
    precondition(count >= 0, "a count to trim to is negative")
    try checkUsable("trim")
    return try engine.countingTrim("trim") { TrimPlan(for: .count(count), at: $0, configuration) }
  }

  /// Removes expired entries and those whose last access was an age ago or earlier.
  ///
  /// - Throws: `CacheError`, as `trim(toCost:)` does.
  /// - Complexity: O(k log n) for k removed ones.
  @discardableResult
  public func trim(toAge age: Duration) throws(CacheError) -> BulkRemoval {
    precondition(age >= .zero, "an age to trim to is negative")
    try checkUsable("trim")
    return try engine.countingTrim("trim") { TrimPlan(for: .age(age), at: $0, configuration) }
  }
}
