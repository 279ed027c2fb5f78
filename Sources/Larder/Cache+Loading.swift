import LarderBasics
import LarderDisk

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
  ///   - options: Which tiers take part, whether an expired value is served, and an error kept.
  ///   - load: Brings the value; runs in a task of its own.
  /// - Throws: What the closure throws; `CancellationError` when the calling task is cancelled before
  ///   there is a value; `CacheError` when reading fails, and with `.notCached` where the options
  ///   forbid to load.
  /// - Complexity: O(1) from memory, O(bytes) from disk.
  //
  // Inlinable, so that a hit in memory is specialised in the module of the caller.
  @inlinable
  public func value(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    options: LoadOptions = LoadOptions(), orStore load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if options.mayAnswerFromMemory, !disk.isStrict, let value = memory.value(forKey: key) {
      return value
    }
    return try await loadedValue(of: key, expiration, options, load)
  }

  /// The value stored under a key, or else what becomes of it by a closure that is told of the
  /// previous value.
  ///
  /// ```swift
  /// let page = try await pages.value(forKey: url) { previous in
  ///   let response = try await fetch(url, ifNoneMatch: previous?.extendedData)
  ///   if response.status == 304 { return .notModified(expiration: .seconds(60)) }
  ///   return .value(response.body, expiration: .seconds(60), extendedData: response.eTag)
  /// }
  /// ```
  ///
  /// The closure runs once for all tasks that ask for the key at once, and everything else holds as
  /// for a load that knows nothing. `previous` is the value on disk: an expired one, for as long as
  /// its file is there, which is at least the configured `expiredGrace` unless a limit needs its
  /// room; or a valid one where the options say `.reload`. It is nil where there is none, where it
  /// cannot be decoded, and for `.memoryOnly`. That it is looked at counts as a use and as a hit on
  /// disk.
  ///
  /// A previous value that was replaced or removed during the load is not brought back by
  /// `.notModified`: the callers get it, and nothing is stored.
  ///
  /// - Parameters:
  ///   - key: What the value is found by.
  ///   - options: Which tiers take part, whether an expired value is served, and an error kept.
  ///   - load: Says what the value is now; runs in a task of its own.
  /// - Throws: As `value(forKey:expiration:options:orStore:)` does; `CacheError` with `.callerFailed`
  ///   for `.notModified` without a previous value.
  /// - Complexity: O(1) from memory, O(bytes) from disk.
  @inlinable
  public func value(
    forKey key: some CacheKeyConvertible, options: LoadOptions = LoadOptions(),
    orRevalidate load:
      @escaping @Sendable (_ previous: CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> Value {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if options.mayAnswerFromMemory, !disk.isStrict, let value = memory.value(forKey: key) {
      return value
    }
    return try await revalidatedValue(of: key, options, load)
  }

  /// Answers a call whose value is not in memory, by a load that knows nothing.
  @usableFromInline
  func loadedValue(
    of key: CacheKey, _ expiration: Expiration?, _ options: LoadOptions,
    _ load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await value(
      for: LoadRequest(
        key: key, expiration: expiration, options: options, wantsPrevious: false
      ) { _ in
        .value(try await load(), expiration: expiration)
      })
  }

  /// Answers a call whose value is not in memory, by a load that is told of the previous value.
  @usableFromInline
  func revalidatedValue(
    of key: CacheKey, _ options: LoadOptions,
    _ load: @escaping @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> Value {
    try await value(
      for: LoadRequest(
        key: key, expiration: nil, options: options, wantsPrevious: !options.isMemoryOnly,
        load: load))
  }

  /// What a caller asked to be loaded.
  ///
  /// Kept together because it travels: from the task that asks into the task that loads.
  struct LoadRequest: Sendable {
    let key: CacheKey
    /// How long the value is valid that a load brings which does not say.
    let expiration: Expiration?
    let options: LoadOptions
    /// Whether the load is told of the value on disk.
    let wantsPrevious: Bool
    let load: @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  }

  private func value(for request: LoadRequest) async throws -> Value {
    request.options.checkPreconditions()
    do {
      return try await decidedValue(for: request)
    } catch let error as CacheError where error.code == .cancelled && Task.isCancelled {
      // From the executor of the reads: which step met the cancellation is no concern of the caller.
      throw CancellationError()
    }
  }

  /// The order matters: a fresh value, then an expired one that may be served, then a failure that
  /// still stands, and only then a load.
  private func decidedValue(for request: LoadRequest) async throws -> Value {
    let (key, options) = (request.key, request.options)
    if !options.reloads {
      if let value = try await value(forKey: key, options, isPastMemory: true) { return value }
      if let value = try await staleValue(request) { return value }
    }
    if options.isCacheOnly { throw CacheError(.notCached, operation: "value") }
    if !options.reloads, let error = flights.failure(for: key, at: disk.engine.now) {
      if let value = await staleValue(request, insteadOf: error) { return value }
      flights.noteServedFailure()
      throw error
    }
    do {
      return try await flights.value(of: key, clock: disk.engine.configuration.clock) {
        try await self.load(request, $0)
      }
    } catch {
      if let value = await staleValue(request, insteadOf: error) { return value }
      throw error
    }
  }

  /// An expired value, if the options allow one; a load of a fresh one is under way then.
  private func staleValue(_ request: LoadRequest) async throws(CacheError) -> Value? {
    let (key, options) = (request.key, request.options)
    let staleness = options.staleWhileRevalidating
    guard staleness > .zero, !options.isMemoryOnly else { return nil }
    let value = try await disk.executor.run("value") { () throws(CacheError) in
      try self.staleValueFromDisk(key, within: staleness)
    }
    guard let value else { return nil }
    flights.noteServedStale()
    if options.isCacheOnly { return value }
    // After the value was found: who has nothing to be served waits for the load instead.
    flights.refresh(key, at: disk.engine.now, within: options.refreshTime) {
      try await self.load(request, $0)
    }
    return value
  }

  /// An expired value that the options allow where the load fails; nil where the failure says
  /// nothing of the source.
  private func staleValue(_ request: LoadRequest, insteadOf error: any Error) async -> Value? {
    let staleness = request.options.staleIfFailing
    let isCycle = (error as? CacheError)?.code == .loadCycle
    guard staleness > .zero, !request.options.isMemoryOnly, !isCycle, !Task.isCancelled,
      !(error is CancellationError)
    else { return nil }
    do throws(CacheError) {
      let value = try await disk.executor.run("value") { () throws(CacheError) in
        try self.staleValueFromDisk(request.key, within: staleness)
      }
      if value != nil { flights.noteServedStale() }
      return value
    } catch {
      // The caller gets the error of the load, which came first.
      return nil
    }
  }

  /// What one flight does: look once more, load, store, or keep the failure. Runs in a task of its
  /// own.
  private func load(
    _ request: LoadRequest, _ flight: FlightID
  ) async throws -> Value {
    let (key, options) = (request.key, request.options)
    var previous: PreviousValue?
    if request.wantsPrevious {
      previous = try await disk.executor.run("value") { () throws(CacheError) in
        try self.previousValue(of: key, isKept: !options.isDiskOnly)
      }
      // The flight before this one may have ended between the miss and now.
      if let previous, !previous.cached.hasExpired, !options.reloads {
        return previous.cached.value
      }
    } else if !options.reloads,
      let value = try await value(forKey: key, options, isPastMemory: false)
    {
      return value
    }
    if let loadReplacement {
      return try await loadReplacement.load(
        key, for: self, expiration: request.expiration
      ) { try await request.load(nil) }
    }
    do {
      let loaded = try await request.load(previous?.cached)
      return try await settle(loaded, of: request, previous, flight)
    } catch {
      // A load that nobody waited for any longer says nothing of the source, whatever error it made
      // of that.
      if options.failureLifetime > .zero && !Task.isCancelled && !(error is CancellationError) {
        flights.keepFailure(
          error, for: key, of: flight, until: disk.engine.now.adding(options.failureLifetime))
      }
      throw error
    }
  }
}
