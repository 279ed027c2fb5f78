extension Cache {
  /// The value stored under a key, or else the one that a closure loads, which is stored.
  ///
  /// However many tasks ask for a key at once, one load runs; all of them get its value or its
  /// error, and a load that failed is tried again by the next who asks. A task that is cancelled
  /// stops waiting, and when all have, the load is cancelled. A store or a removal of the key during
  /// the load wins: the waiting tasks get the loaded value, which is not stored. A value that cannot
  /// be stored is returned all the same.
  ///
  /// A load may ask the cache for other keys. One that would wait for itself, directly or through
  /// another load, fails at once with `.loadCycle`.
  ///
  /// - Throws: What the closure throws; `CancellationError`; `CacheError` when reading fails.
  public func value(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    orStore load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let key = key.cacheKey
    if let value = try await value(forKey: key) { return value }
    return try await flights.value(of: key) { flight in
      // The flight before this one may have ended between the miss and now.
      if let value = try await self.value(forKey: key) { return value }
      let value = try await load()
      await self.keepLoaded(value, key, expiration, flight)
      return value
    }
  }

  /// Stores what a load brought, unless the key was changed meanwhile.
  private func keepLoaded(
    _ value: Value, _ key: CacheKey, _ expiration: Expiration?,
    _ flight: FlightControl<Value>.FlightID
  ) async {
    do throws(CacheError) {
      try await disk.executor.run("store") { () throws(CacheError) in
        _ = try self.store(value, key, expiration, []) { self.flights.isWanted(flight) }
      }
    } catch {
      // The caller asked for the value and has it; the failure to keep it is counted.
      disk.engine.noteUpkeepFailure(error.errno ?? .ioError)
    }
  }
}
