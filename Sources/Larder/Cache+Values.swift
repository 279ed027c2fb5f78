import LarderBasics
import LarderDisk
import LarderMemory
import LarderSystem

extension Cache {
  /// Returns the value stored under a key; nil when there is no valid one.
  ///
  /// Counts as a use in both tiers. A value that comes from disk is kept in memory, unless a newer
  /// one was stored meanwhile.
  ///
  /// - Throws: `CacheError`: `.resourcesExhausted`, `.closed`, `.forked`. Any other failure is a
  ///   miss with a counted reason.
  /// - Complexity: O(1) from memory, O(bytes) from disk.
  //
  // Inlinable, so that a hit in memory is specialised in the caller's module.
  @inlinable
  public func value(forKey key: some CacheKeyConvertible) throws(CacheError) -> Value? {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if disk.mayAnswerFromMemory(), let value = hit(key) { return value }
    return try valueFromDisk(key)
  }

  /// Returns the value in memory, and counts the use on disk as well if that has to be at once.
  @inlinable @inline(__always)
  func hit(_ key: CacheKey) -> Value? {
    let value = memory.value(forKey: key)
    if disk.countsMemoryHits, value != nil { disk.countMemoryHit(key) }
    return value
  }

  /// Reads a value from disk, also one that expired less than `staleness` ago, past memory.
  func staleValueFromDisk(
    _ key: CacheKey, within staleness: Duration
  ) throws(CacheError) -> (value: Value, hasExpired: Bool)? {
    let found = try disk.read(disk.subject(key), for: .value, staleness: staleness)
    guard let found, let value = decoded(found.bytes) else { return nil }
    return (value, disk.hasExpired(found.expiry))
  }

  /// Reads a value from disk, past the memory tier.
  ///
  /// - Parameter isKept: Whether it is promoted, if it is valid.
  @usableFromInline
  func valueFromDisk(
    _ key: CacheKey, extending: ExpirationExtending? = nil, staleness: Duration = .zero,
    isKept: Bool = true
  ) throws(CacheError) -> Value? {
    let subject = disk.subject(key)
    // Before the file is opened, so that a change after that is seen.
    if disk.followsNeighbours { disk.engine.startWatchingAside() }
    let found = try disk.read(
      subject, for: .value, extending: extending, staleness: staleness)
    guard let found, let value = decoded(found.bytes) else { return nil }
    let hasExpired = staleness > .zero && disk.hasExpired(found.expiry)
    if isKept && !hasExpired { promote(value, subject, found) }
    return value
  }

  /// Keeps a value from disk in memory, unless its name was changed since it was read.
  @inline(__always)
  func promote(_ value: Value, _ subject: Subject, _ found: borrowing FoundValue) {
    // The name was being changed during the read: the caller gets the value, but it may not be the
    // latest, so memory does not keep it.
    guard let generation = found.generation else { return }
    let generations = disk.engine.generations
    keep(
      value, subject, byteCount: found.bytes.count,
      until: servedUntil(expiry: found.expiry, lifetime: found.lifetime), isDecoded: true
    ) { generations.isCurrent(generation) }
    disk.engine.observers.letGo()
  }

  /// Decodes a value. Counts a failure beside the hit on disk, and keeps the file, which is whole.
  func decoded(_ bytes: [UInt8]) -> Value? {
    do {
      return try coder.decode(bytes)
    } catch {
      // The bytes may come from another version of the program; the caller makes a new value.
      disk.engine.miss(.undecodable)
      // The disk tier has counted a hit and a miss for it, of which `hitRate` takes the miss.
      flights.count { $0.repeatedHits += 1 }
      return nil
    }
  }

  /// Stores a value in both tiers in place of an older one.
  ///
  /// A reader in any thread or process sees the old value, the new one, or none. If the store is
  /// rejected or fails, the old value is removed from both tiers where that is possible. If it is
  /// not, or if the store was refused before it began, the error says `oldValueRemains`.
  ///
  /// - Parameters:
  ///   - value: The value to keep.
  ///   - key: The key of the value.
  ///   - expiration: The lifetime of the value; the configured one when nil.
  ///   - extendedData: Up to 1,024 bytes kept with the value on disk, such as an ETag.
  /// - Throws: `CacheError`: `.callerFailed` when the coder throws, and as `DiskCache.store` does.
  /// - Complexity: O(bytes).
  @discardableResult
  public func store(
    _ value: Value, forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) throws(CacheError) -> StoreOutcome {
    try store(value, key.cacheKey, expiration, extendedData, loadedBy: nil)
  }

  /// Stores a value. A loaded value is only stored if the key was not changed since the load began.
  ///
  /// - Parameter isKept: Whether the value is kept in memory too.
  func store(
    _ value: Value, _ key: CacheKey, _ expiration: Expiration?, _ extendedData: [UInt8],
    loadedBy flight: FlightID?, isKept: Bool = true
  ) throws(CacheError) -> StoreOutcome {
    try disk.checkStorable()
    if disk.followsNeighbours { disk.engine.startWatchingAside() }
    var request = disk.request(key, expiration, extendedData)
    request.origin = ObjectIdentifier(self)
    // The engine calls both with the name held, so that disk, index and memory change as one.
    request.isLoad = flight != nil
    if let flight { request.isWanted = { [unowned self] in flights.isWanted(flight) } }
    let subject = request.subject
    request.onChange = { [unowned self] published in
      // A load's own value supersedes no load, even if it was rejected.
      supersede(key, isOwn: flight != nil)
      guard let published else { return drop(key) }
      guard isKept else { return }
      keep(
        value, subject, byteCount: published.byteCount,
        until: servedUntil(expiry: published.expiry, lifetime: published.lifetime)
      ) { !disk.engine.hasLateChanges(of: subject.name, since: published) }
    }
    let decided = request
    return try disk.engine.countingErrors { () throws(CacheError) in
      let bytes = try disk.engine.keepingPromise(decided) { () throws(CacheError) in
        try coder.bytes(of: value)
      }
      return try disk.store(bytes.span, decided)
    }
  }

  /// Keeps a value in memory if a condition holds; the condition is checked under the memory tier's
  /// lock. What leaves for it waits for `letGo()`, because the name may be held. A value that is
  /// too large for memory only takes the older one's place.
  ///
  /// - Parameters:
  ///   - isAlone: Whether the disk does not hold the value.
  ///   - isDecoded: Whether the value was made of bytes, and not by the caller.
  func keep(
    _ value: Value, _ subject: Subject, byteCount: Int, until ceiling: Timestamp,
    isAlone: Bool = false, isDecoded: Bool = false, if isCurrent: () -> Bool
  ) {
    let (key, now) = (subject.key, disk.engine.heldNow)
    guard byteCount <= memoryEntryCostLimit || isAlone else {
      // There is one after a load with `.memoryOnly`, which may end while the name is changed.
      if isCurrent() { drop(key) }
      return
    }
    // First, so that events of the file that come while the value is stored find the key.
    let other = keptKeys.insert(key, subject.name) { !memory.contains($0, at: .zero) }
    if let other { drop(other) }
    defer { keptKeys.endInsertion(of: subject.name) }
    // If the directory was moved away, changes at its path bring no event, and a read from memory
    // looks at no file, so nothing is kept. Nor before the directory is watched, or after
    // `close()`, which empties memory.
    let isHeard = isAlone || !disk.followsNeighbours || disk.engine.isWatchSettled
    var removals = Removals<CacheKey, Value>()
    let value = isDecoded ? value : coder.compacted?(value) ?? value
    _ = memory.storeIf(
      { isHeard && !disk.engine.isAstray && !disk.hasClosed && isCurrent() }, value, forKey: key,
      cost: byteCount, expiration: configuration.memoryExpiration, ceiling: ceiling, slides: false,
      at: now, into: &removals)
    depart(removals)
  }

  /// Returns the time until which memory may serve a value before a use must reach the disk.
  func servedUntil(expiry: Timestamp, lifetime: Lifetime) -> Timestamp {
    // Uses stamp no file in these modes, and a change by another process is either reported or, in
    // a fixture, does not happen.
    let (configuration, mode) = (disk.configuration, disk.configuration.mode)
    if mode == .fixture || mode.isReadOnly && disk.followsNeighbours && disk.engine.hasEvents {
      return expiry
    }
    let (now, extending) = (disk.engine.heldNow, configuration.extending)
    let lag = disk.engine.recency.lag(for: lifetime, extending)
    // A use that moves the expiry by more has to reach the disk.
    let extended = extending.extendedExpiry(of: expiry, lifetime: lifetime, at: now)
    if extended?.nanoseconds(since: expiry) ?? 0 > lag { return now }
    // By as much as a server's clock is ahead, it is over earlier there.
    let lead = max(.zero, disk.engine.timeToJudge(expiry, at: expiry).duration(since: expiry))
    return min(expiry.adding(.zero - lead), now.adding(.nanoseconds(lag)))
  }

  /// Removes a value from both tiers and returns whether there was one, valid or expired.
  ///
  /// Loads of the key that are running are not stored when they end. The value leaves memory even
  /// if its file cannot be removed.
  ///
  /// - Throws: `CacheError`: `.readOnly`, `.permissionDenied`, `.closed`, `.forked`, `.io`. An
  ///   absent value is no error.
  @discardableResult
  public func remove(forKey key: some CacheKeyConvertible) throws(CacheError) -> Bool {
    try disk.checkUsable("remove")
    let (subject, engine) = (disk.subject(key), disk.engine)
    return try engine.countingErrors { () throws(CacheError) in
      var wasKept = false
      return try disk.remove(subject.name, subject) { _ in
        wasKept = wasKept || memory.contains(subject.key, at: PackedTime(engine.heldNow))
      } || wasKept
    }
  }

  /// Removes every value from both tiers and waits for the end. Goes on after a failure.
  ///
  /// Loads that are running are not stored when they end.
  ///
  /// - Returns: The values that left the disk. Those in memory alone are not counted.
  /// - Throws: `CacheError`, as `removeAllInBackground()` and `RemovalProgress.wait()` do.
  @discardableResult
  public func removeAll() throws(CacheError) -> BulkRemoval {
    try disk.removeAll()
  }

  /// Starts to remove every value; when this returns, this process finds no older value any more.
  ///
  /// - Throws: `CacheError`: `.readOnly`, `.resourcesExhausted`, `.closed`, `.forked`, `.io`. The
  ///   progress reports what cannot be removed afterwards.
  /// - Complexity: O(n) in memory; the files are removed in the background.
  public func removeAllInBackground() throws(CacheError) -> RemovalProgress {
    try disk.removeAllInBackground()
  }

  /// Removes expired values from both tiers.
  ///
  /// - Returns: The values that left the disk.
  /// - Complexity: O(k log n) for k expired entries; waits for the first scan.
  /// - Throws: `CacheError`: `.readOnly`, `.closed`, `.forked`, and the error of the first scan.
  @discardableResult
  public func removeExpired() throws(CacheError) -> BulkRemoval {
    try disk.checkUsable("removeExpired")
    memory.removeExpired()
    return try disk.removeExpired()
  }

  /// Returns the tier that would answer a read now; nil for none. Does not count as a use.
  ///
  /// Counts neither as a hit nor as a miss. The value may be gone before the next read.
  ///
  /// - Throws: `CacheError`: `.resourcesExhausted`, `.closed`, `.forked`.
  /// - Complexity: O(1); for a value on disk, opens the file and does not read its content.
  public func tier(forKey key: some CacheKeyConvertible) throws(CacheError) -> CacheTier? {
    try disk.checkUsable("tier")
    let key = key.cacheKey
    if disk.mayAnswerFromMemory(), memory.contains(key) { return .memory }
    return try disk.contains(key) ? .disk : nil
  }

  /// Whether a read would find a value. Does not count as a use.
  ///
  /// - Complexity: O(1); opens the file, and does not read its content.
  /// - Throws: `CacheError`, as `tier(forKey:)` does.
  public func contains(_ key: some CacheKeyConvertible) throws(CacheError) -> Bool {
    try tier(forKey: key) != nil
  }
}
