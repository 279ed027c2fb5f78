// Removals of chosen values. What the disk holds, `disk` tells.
extension Cache {
  /// Removes a value from both tiers and returns it; nil when none was valid and decodes.
  ///
  /// Returns the value that was removed from disk, or that memory alone had: no store of this
  /// process comes in between.
  ///
  /// - Throws: `CacheError`, as `remove(forKey:)` does.
  /// - Complexity: O(bytes).
  @discardableResult
  public func removeValue(forKey key: some CacheKeyConvertible) throws(CacheError) -> Value? {
    try disk.checkUsable("remove")
    let (subject, engine) = (disk.subject(key), disk.engine)
    var (kept, mayBeKept) = (Value?.none, disk.mayAnswerFromMemory())
    let bytes = try disk.take(subject) {
      if mayBeKept { kept = memory.peek(subject.key, at: PackedTime(engine.heldNow)) }
      mayBeKept = false
    }
    guard let bytes else { return kept }
    // One that does not decode is no miss, because a removal is no read.
    do { return try coder.decode(bytes) } catch { return kept }
  }

  /// Removes a value from both tiers and returns it; nil when there was none that is valid.
  @discardableResult
  public func removeValue(forKey key: some CacheKeyConvertible) async throws(CacheError) -> Value? {
    try await disk.executor.run("remove", removeValue, key.cacheKey)
  }

  /// Removes the values whose entries on disk a closure chooses, expired ones included, from both
  /// tiers, and waits for the end.
  ///
  /// - Throws: `CacheError`, as `DiskCache.removeAll(where:)` does, which has an example.
  /// - Complexity: O(n log n); opens every file to learn its key.
  @discardableResult
  public func removeAll(where isChosen: (DiskEntry) -> Bool) throws(CacheError) -> BulkRemoval {
    try disk.removeAll { drops($0, isChosen($0)) }
  }

  /// Removes the values whose entries on disk a closure chooses from both tiers.
  @discardableResult
  public func removeAll(
    where isChosen: @escaping @Sendable (DiskEntry) -> Bool
  ) async throws(CacheError) -> BulkRemoval {
    try await disk.removeAll { self.drops($0, isChosen($0)) }
  }

  /// Takes the value of a chosen entry out of memory before the file goes, because of a file that
  /// records no key the engine tells no cause.
  private func drops(_ entry: DiskEntry, _ isChosen: Bool) -> Bool {
    if isChosen, let name = EntryName(Array(entry.name.utf8)), let key = keptKeys.key(of: name) {
      drop(key, .explicit)
    }
    return isChosen
  }

  /// Removes the value of a key and all its variants.
  ///
  /// - Throws: `CacheError`, as `DiskCache.removeVariants(of:)` does; its documentation says which
  ///   values stay then.
  /// - Complexity: O(n log n); opens every file to learn its key.
  @discardableResult
  public func removeVariants(of key: some CacheKeyConvertible) throws(CacheError) -> BulkRemoval {
    try disk.checkUsable("removeAll")
    // First, as in `drops`: the file of the key itself may record no key.
    drop(key.cacheKey, .explicit)
    defer { disk.engine.observers.letGo() }
    return try disk.removeVariants(of: key)
  }

  /// Removes the value of a key and all its variants.
  @discardableResult
  public func removeVariants(
    of key: some CacheKeyConvertible
  ) async throws(CacheError) -> BulkRemoval {
    try await disk.longExecutor.run("removeAll", removeVariants, key.cacheKey)
  }
}

extension CacheStatistics: CustomReflectable {
  /// The calls that memory, the disk or an expired value answered.
  ///
  /// Each call counts once, as a hit or as a miss. Reads by a forced load (`.reload`) or a
  /// background load do not count. `disk.hits` and `disk.misses` count every read of the disk.
  // The parts are read one after the other, so that the difference can be off by one.
  public var hitCount: Int { max(memory.hits + disk.hits - loads.repeatedHits, 0) }

  /// The calls that found nothing, or loaded.
  public var missCount: Int { max(disk.missCount - loads.repeatedMisses, 0) }

  /// The share of calls that found a value in either tier, 0 to 1; nil before the first.
  public var hitRate: Double? {
    let count = hitCount + missCount
    return count > 0 ? Double(hitCount) / Double(count) : nil
  }

  /// The counts of calls and the parts by name, for `print`.
  public var customMirror: Mirror {
    let counts: KeyValuePairs<String, Any> = [
      "hitRate": hitRate as Any, "hitCount": hitCount, "missCount": missCount, "memory": memory,
      "disk": disk, "loads": loads,
    ]
    return Mirror(self, children: counts, displayStyle: .struct)
  }
}

extension DiskStatistics: CustomReflectable {
  /// The public counters by name, for `print`.
  public var customMirror: Mirror {
    let counters: KeyValuePairs<String, Any> = [
      "hits": hits, "misses": misses, "stores": stores, "rejections": rejections,
      "removals": removals, "purges": purges, "vainEvictions": vainEvictions,
      "bytesRead": bytesRead, "bytesWritten": bytesWritten, "stampsWritten": stampsWritten,
      "stampsDropped": stampsDropped, "lostStores": lostStores, "evictionTime": evictionTime,
      "evictionAge": evictionAge as Any, "moreHitsAtDoubleLimit": moreHitsAtDoubleLimit,
      "moreHitsAtFourfoldLimit": moreHitsAtFourfoldLimit, "evictionOrder": evictionOrder,
      "promptReads": promptReads, "switchedReads": switchedReads,
      "errors": errors, "upkeepFailures": upkeepFailures, "scan": scan,
      "foreignCount": foreignCount, "isDirectoryUnsafe": isDirectoryUnsafe,
    ]
    return Mirror(self, children: counters, displayStyle: .struct)
  }
}

// Trims of both tiers.
extension Cache {
  /// Removes the least recently used values from both tiers until at most `count` are left in each.
  ///
  /// - Throws: `CacheError`, as the disk tier's `trim(toCount:)` does.
  @discardableResult
  public func trim(toCount count: Int) throws(CacheError) -> BulkRemoval {
    try disk.checkUsable("trim")
    memory.trim(toCount: count)
    return try disk.trim(toCount: count)
  }

  /// Removes the least recently used values from both tiers until each takes at most `cost` bytes.
  ///
  /// - Throws: `CacheError`, as the disk tier's `trim(toCost:)` does.
  @discardableResult
  public func trim(toCost cost: Int) throws(CacheError) -> BulkRemoval {
    try disk.checkUsable("trim")
    memory.trim(toCost: cost)
    return try disk.trim(toCost: cost)
  }

  /// Removes the values whose last use is longer ago than `age` from both tiers.
  ///
  /// - Throws: `CacheError`, as the disk tier's `trim(toAge:)` does.
  @discardableResult
  public func trim(toAge age: Duration) throws(CacheError) -> BulkRemoval {
    try disk.checkUsable("trim")
    memory.trim(toAge: age)
    return try disk.trim(toAge: age)
  }
}
