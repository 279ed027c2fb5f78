extension Cache {
  /// The value stored under a key, or else the one that a closure loads, which is stored.
  ///
  /// However many tasks ask for a key at once, one load runs; all of them get its value or its
  /// error, and a load that failed is tried again by the next who asks. A task that is cancelled
  /// stops waiting, and when all have, the load is cancelled. A store or a removal of the key
  /// during the load wins: the waiting tasks get the loaded value, which is not stored, and who asks
  /// after that waits for the next load. A value that cannot be stored is returned all the same.
  ///
  /// A load may ask this cache and others for other keys. One that would wait for itself, directly
  /// or through other loads, fails at once with `.loadCycle`. A task that the load begins with
  /// `Task { }` counts as a part of it, also if the load does not wait for it: begin it with
  /// `Task.detached`, or ask within `LoadContext.leaving`.
  ///
  /// - Parameters:
  ///   - key: What the value is found by.
  ///   - expiration: How long the loaded value is valid; the configured time when nil.
  ///   - options: Whether an expired value is served meanwhile, and an error kept.
  ///   - load: Brings the value; runs in a task of its own.
  /// - Throws: What the closure throws; `CancellationError` when the calling task is cancelled before
  ///   there is a value; `CacheError` when reading fails.
  public func value(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    options: LoadOptions = LoadOptions(), orStore load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let request = LoadRequest(
      key: key.cacheKey, expiration: expiration, options: options, load: load)
    do {
      return try await value(for: request)
    } catch let error as CacheError where error.code == .cancelled && Task.isCancelled {
      // From the executor of the reads: which step met the cancellation is no concern of the caller.
      throw CancellationError()
    }
  }

  /// The order matters: a fresh value, then an expired one that may be served, then a failure that
  /// still stands, and only then a load.
  private func value(for request: LoadRequest) async throws -> Value {
    if let value = try await value(forKey: request.key) { return value }
    if let value = try await staleValue(request) { return value }
    if let error = flights.failure(for: request.key, at: disk.engine.now) { throw error }
    return try await flights.value(of: request.key, clock: disk.engine.configuration.clock) {
      try await self.load(request, $0)
    }
  }

  /// What a caller asked to be loaded.
  ///
  /// Kept together because it travels: from the task that asks into the task that loads.
  private struct LoadRequest: Sendable {
    let key: CacheKey
    let expiration: Expiration?
    let options: LoadOptions
    let load: @Sendable () async throws -> Value
  }

  /// An expired value, if the options allow one; a load of a fresh one is under way then.
  private func staleValue(_ request: LoadRequest) async throws(CacheError) -> Value? {
    let staleness = request.options.staleWhileRevalidating
    guard staleness > .zero else { return nil }
    let value = try await disk.executor.run("value") { () throws(CacheError) in
      try self.staleValueFromDisk(request.key, within: staleness)
    }
    guard let value else { return nil }
    // After the value was found: who has nothing to be served waits for the load instead.
    flights.refresh(
      request.key, at: disk.engine.now, within: request.options.refreshTime
    ) { try await self.load(request, $0) }
    return value
  }

  /// What one flight does: look once more, load, store, or keep the failure. Runs in a task of its
  /// own.
  private func load(
    _ request: LoadRequest, _ flight: FlightID
  ) async throws -> Value {
    // The flight before this one may have ended between the miss and now.
    if let value = try await value(forKey: request.key) { return value }
    if let loadReplacement {
      return try await loadReplacement.load(
        request.key, for: self, expiration: request.expiration, request.load)
    }
    do {
      let value = try await request.load()
      await keep(value, request, flight)
      return value
    } catch {
      let lifetime = request.options.failureLifetime
      // A load that nobody waited for any longer says nothing of the source, whatever error it made
      // of that.
      if lifetime > .zero && !Task.isCancelled && !(error is CancellationError) {
        flights.keepFailure(
          error, for: request.key, of: flight, until: disk.engine.now.adding(lifetime))
      }
      throw error
    }
  }

  /// Stores what a load brought, unless the key was changed meanwhile.
  private func keep(
    _ value: Value, _ request: LoadRequest, _ flight: FlightID
  ) async {
    guard !disk.engine.isReadOnly else { return }
    do throws(CacheError) {
      try await disk.executor.run("store") { () throws(CacheError) in
        _ = try self.store(value, request.key, request.expiration, [], loadedBy: flight)
      }
    } catch  where error.code == .cancelled {
      // The load was given up, and its value is not wanted.
    } catch {
      // The caller asked for the value and has it; the failure to keep it is counted.
      flights.noteUnstored()
      if let errno = error.errno { disk.engine.noteUpkeepFailure(errno) }
    }
  }
}
