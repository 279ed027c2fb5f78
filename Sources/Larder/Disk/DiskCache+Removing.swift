extension DiskCache {
  /// Removes a value and returns whether there was one, valid or expired.
  @discardableResult
  public func remove(forKey key: some CacheKeyConvertible) throws(CacheError) -> Bool {
    try checkUsable("remove")
    return try engine.remove(subject(key), cause: .explicit)
  }

  /// Removes every entry and waits for the end; what others use or store meanwhile may stay. Goes on
  /// past a failure.
  @discardableResult
  public func removeAll() throws(CacheError) -> BulkRemoval {
    try removeAllInBackground().wait()
  }

  /// Starts to remove every entry: for this process everything older is gone and totals are 0 when
  /// this returns.
  public func removeAllInBackground() throws(CacheError) -> RemovalProgress {
    try checkUsable("removeAll")
    return try engine.startClearing()
  }

  /// Removes the expired entries, and those older than the age limit.
  @discardableResult
  public func removeExpired() throws(CacheError) -> BulkRemoval {
    try checkUsable("removeExpired")
    return try engine.trim("removeExpired") { engine.sweepPlan(at: $0) }
  }

  /// Removes expired entries, then the least recently used, until the values take at most this many
  /// bytes, by the configured measure.
  @discardableResult
  public func trim(toSize byteCount: Int) throws(CacheError) -> BulkRemoval {
    precondition(byteCount >= 0, "a size to trim to is negative")
    try checkUsable("trim")
    return try engine.trim("trim") { now in
      var plan = TrimPlan(now: now, protected: nil)
      plan.setMaximum(UInt64(byteCount), configuration.sizeMeasure)
      return plan
    }
  }

  /// Removes expired entries, then the least recently used, until there are at most this many.
  @discardableResult
  public func trim(toCount count: Int) throws(CacheError) -> BulkRemoval {
    precondition(count >= 0, "a count to trim to is negative")
    try checkUsable("trim")
    return try engine.trim("trim") { now in
      var plan = TrimPlan(now: now, protected: nil)
      plan.maximumCount = count
      return plan
    }
  }

  /// Removes expired entries and those whose last access is longer ago than an age.
  @discardableResult
  public func trim(toAge age: Duration) throws(CacheError) -> BulkRemoval {
    precondition(age >= .zero, "an age to trim to is negative")
    try checkUsable("trim")
    return try engine.trim("trim") { now in
      var plan = TrimPlan(now: now, protected: nil)
      plan.oldestAccess = now.adding(.zero - age)
      return plan
    }
  }
}
