import LarderBasics
import LarderDisk

extension Cache {
  /// Returns the value stored under a key. Without a valid one, a closure loads it, to be stored.
  ///
  /// However many tasks ask for a key at once, one load runs, and all of them get its value or its
  /// error. After a load that failed, the next request loads again. A cancelled task stops waiting;
  /// when all waiting tasks are cancelled, so is the load. If the key is stored or removed during
  /// the load, that wins: the tasks that wait already get the loaded value, which is not stored,
  /// and later requests wait for the next load. A value that cannot be stored is still returned.
  ///
  /// The next load begins when the one before has ended, or when all tasks that wait for its value
  /// are cancelled. So a load that hangs holds up later requests: give it a time limit. A refresh
  /// behind an expired value whose key was changed meanwhile is cancelled by the next request.
  ///
  /// A load may ask this cache and other caches for other keys. A load that would wait for itself,
  /// directly or through other loads, fails at once with `.loadCycle`. A task that the load begins
  /// with `Task { }` counts as a part of it, even if the load does not wait for it. Begin such a
  /// task with `Task.detached`, or ask within `LoadContext.leaving`.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - expiration: The lifetime of the loaded value; the configured one when nil.
  ///   - options: The tiers that take part, and whether an expired value is served or an error
  ///     kept.
  ///   - load: Returns the value; runs in a task of its own.
  /// - Throws: The error of the closure; `CancellationError` when the calling task is cancelled
  ///   before there is a value; `CacheError` when reading fails, and with `.notCached` if the
  ///   options forbid loading.
  /// - Complexity: O(1) from memory, O(bytes) from disk.
  //
  // Inlinable, so that a hit in memory is specialised in the caller's module.
  @inlinable
  public func value(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    options: LoadOptions = LoadOptions(), orStore load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if let value = valueInMemory(key, options) { return value }
    return try await value(of: key, options, wantsPrevious: false) { _ in
      .value(try await load(), expiration: expiration)
    }
  }

  /// Returns the value stored under a key. Without a valid one, a closure that gets the previous
  /// value loads or renews it.
  ///
  /// ```swift
  /// let page = try await pages.value(forKey: url) { previous in
  ///   let response = try await fetch(url, ifNoneMatch: previous?.extendedData)
  ///   if response.status == 304 { return .notModified(expiration: .seconds(60)) }
  ///   return .value(response.body, expiration: .seconds(60), extendedData: response.eTag)
  /// }
  /// ```
  ///
  /// The closure runs once for all tasks that ask for the key at once. Everything else is as in
  /// `value(forKey:expiration:options:orStore:)`. `previous` is the value on disk. It may be
  /// expired, for as long as its file exists: at least the configured `expiredGrace`, unless a
  /// limit needs its room. It is a valid one if the options say `.reload`. It is nil if there is
  /// none, if it cannot be decoded, and for `.memoryOnly`. Reading it counts as a use and a hit.
  ///
  /// If the previous value was replaced or removed during the load, `.notModified` does not bring
  /// it back: the callers get it, and nothing is stored.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - options: The tiers that take part, and whether an expired value is served or an error
  ///     kept.
  ///   - load: Returns the new value, or says that the previous one stands; runs in its own task.
  /// - Throws: As `value(forKey:expiration:options:orStore:)` does; `CacheError` with
  ///   `.callerFailed` for `.notModified` without a previous value.
  /// - Complexity: O(1) from memory, O(bytes) from disk.
  @inlinable
  public func value(
    forKey key: some CacheKeyConvertible, options: LoadOptions = LoadOptions(),
    orRevalidate load:
      @escaping @Sendable (_ previous: CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> Value {
    try disk.checkUsable("value")
    let key = key.cacheKey
    if let value = valueInMemory(key, options) { return value }
    return try await value(of: key, options, wantsPrevious: !options.isMemoryOnly, load)
  }

  /// The arguments of a call that may load, passed from the task that asks to the task that loads.
  struct LoadRequest: Sendable {
    let key: CacheKey
    let options: LoadOptions
    /// Whether the load gets the value on disk.
    let wantsPrevious: Bool
    let load: @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  }

  /// Answers a call whose value is not in memory.
  @usableFromInline
  func value(
    of key: CacheKey, _ options: LoadOptions, wantsPrevious: Bool,
    _ load: @escaping @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> Value {
    try options.check()
    var options = options
    let isAlone = options.isMemoryOnly || options.reloads
    options.singleFlight = isAlone ? .process : options.singleFlight ?? configuration.singleFlight
    do {
      return try await decidedValue(
        for: LoadRequest(key: key, options: options, wantsPrevious: wantsPrevious, load: load))
    } catch let error as CacheError where error.code == .cancelled && Task.isCancelled {
      // The error comes from the executor of the reads; callers expect Swift's `CancellationError`.
      throw CancellationError()
    }
  }

  /// Returns, in this order, a valid value, an expired one that may be served, or a loaded one;
  /// before it loads, it throws the kept error of an earlier load.
  private func decidedValue(for request: LoadRequest) async throws -> Value {
    let (key, options) = (request.key, request.options)
    disk.engine.spareExpired(for: max(options.staleWhileRevalidating, options.staleIfFailing))
    if !options.reloads {
      if let value = try await value(forKey: key, options, isPastMemory: true) { return value }
      if let value = try await staleValue(request) { return value }
    }
    if options.isCacheOnly { throw CacheError(.notCached, operation: "value") }
    if !options.reloads, let error = flights.failure(for: key, at: disk.engine.now) {
      if let value = await staleValue(request, insteadOf: error) { return value }
      flights.count { $0.servedFailures += 1 }
      throw error
    }
    do {
      return try await flights.value(
        of: key, clock: disk.engine.configuration.clock, options: options
      ) {
        try await self.load(request, $0)
      }
    } catch {
      if let value = await staleValue(request, insteadOf: error) { return value }
      throw error
    }
  }

  /// Returns an expired value if the options allow one, and starts a load of a fresh one.
  private func staleValue(_ request: LoadRequest) async throws(CacheError) -> Value? {
    let options = request.options
    let found = try await staleValue(request, within: options.staleWhileRevalidating)
    // One that has not expired was stored since the look before.
    guard let (value, hasExpired) = found, hasExpired, !options.isCacheOnly else {
      return found?.value
    }
    // Only after the value was found, because a caller without one waits for a load instead.
    flights.refresh(request.key, at: disk.engine.now, within: options.refreshTime) {
      try await self.load(request, $0, isForCaller: false)
    }
    return value
  }

  /// Reads a value from disk that is valid or expired less than `staleness` ago.
  ///
  /// - Parameter isOnlyLook: Whether the call has not looked at the disk before for its caller.
  private func staleValue(
    _ request: LoadRequest, within staleness: Duration, isOnlyLook: Bool = false
  ) async throws(CacheError) -> (value: Value, hasExpired: Bool)? {
    guard staleness > .zero, !request.options.isMemoryOnly else { return nil }
    let found = try await disk.executor.run(
      "value", reads: true, staleValueFromDisk, request.key, staleness)
    flights.countLookAgain(isVainHit: found != nil && isOnlyLook)
    if found?.hasExpired == true { flights.count { $0.servedStale += 1 } }
    return found
  }

  /// Whether an error of the present task means that the source failed, and not that the load was
  /// cancelled, was refused or waited for itself.
  private static func isOfSource(_ error: any Error) -> Bool {
    if Task.isCancelled || error is CancellationError || error is any LoadRefusal { return false }
    let code = (error as? CacheError)?.code
    return code != .loadCycle && code != .cancelled
  }

  /// Returns an expired value in place of a load's error, if the options allow one and the source
  /// failed. Returns a valid one too, which a forced load has passed over.
  private func staleValue(_ request: LoadRequest, insteadOf error: any Error) async -> Value? {
    guard Self.isOfSource(error) else { return nil }
    do throws(CacheError) {
      return try await staleValue(
        request, within: request.options.staleIfFailing, isOnlyLook: request.options.reloads)?.value
    } catch {
      // The caller gets the load's error, because it came first.
      return nil
    }
  }

  /// Runs one flight, in a task of its own: looks once more, loads, and stores the value or keeps
  /// the error. No expired value is looked for: a caller that allows none may wait for it.
  private func load(
    _ request: LoadRequest, _ flight: FlightID, isForCaller: Bool = true
  ) async throws -> Value {
    let key = request.key
    var (options, previous) = (request.options, PreviousValue?.none)
    options.allowsExpired = false
    return try await inTurn(key, flight, options.singleFlight) {
      var found: Value?
      if request.wantsPrevious {
        previous = try await disk.executor.run(
          "value", reads: true, previousValue(of:isKept:), key, !options.isDiskOnly)
        // The flight before this one may have ended between the miss and now.
        let isValid = previous?.cached.hasExpired == false && !options.reloads
        flights.countLookAgain(isVainHit: previous != nil && !(isValid && isForCaller))
        if isValid { found = previous?.cached.value }
      } else if !options.reloads {
        found = try await value(forKey: key, options, isPastMemory: false)
        flights.countLookAgain(isVainHit: found != nil && !isForCaller)
      }
      if found != nil { flights.find(flight) }
      return found
    } load: {
      do {
        let loaded =
          if let loadReplacement {
            try await loadReplacement.load(key, for: self, isMemoryOnly: options.isMemoryOnly) {
              try await request.load(nil)
            }
          } else {
            try await request.load(previous?.cached)
          }
        return try await settle(loaded, of: request, previous, flight)
      } catch {
        keepFailure(error, of: request, flight)
        throw error
      }
    }
  }

  /// Keeps the error of a load, if the options of a caller say so and the source has failed.
  private func keepFailure(_ error: any Error, of request: LoadRequest, _ flight: FlightID) {
    let (now, options) = (disk.engine.now, [request.options] + flights.options(of: flight))
    let lifetime = options.map(\.failureLifetime).max() ?? .zero
    guard lifetime > .zero, Self.isOfSource(error) else { return }
    flights.keepFailure(error, for: request.key, of: flight, from: now, until: now.adding(lifetime))
  }

  /// Looks for a value and, if there is none, loads it; among processes too, if that is wished.
  func inTurn<Result: Sendable>(
    _ key: CacheKey, _ flight: FlightID, _ wish: SingleFlight?, look: () async throws -> Result?,
    load: () async throws -> Result
  ) async throws -> Result {
    guard wish == .directory, disk.configuration.mode == .shared else {
      if let found = try await look() { return found }
      return try await load()
    }
    return try await disk.inTurn(
      disk.subject(key).name,
      mayWait: { !LoadContext.isNested(flight) && flights.isShared(flight) && !disk.hasClosed },
      look: look, load: load
    ) { isAlone in
      flights.count { if isAlone { $0.unshared += 1 } else { $0.awaited += 1 } }
    }
  }
}

/// The result of a load by `Cache.value(forKey:options:orRevalidate:)`, which has an example.
public enum Loaded<Value: Sendable>: Sendable {
  /// A new value, which is stored in place of the previous one.
  ///
  /// The expiration is the configured one when nil. The extended data are up to 1,024 bytes; empty
  /// ones are not kept.
  case value(Value, expiration: Expiration? = nil, extendedData: [UInt8] = [])
  /// The previous value is still good, for the expiration from now; for the configured one if nil.
  ///
  /// Only its stamps and lifetime are written again, not its content and extended data. If it was
  /// replaced or removed meanwhile, the callers still get it and nothing is stored. Without a
  /// previous value the callers get a `CacheError` with `.callerFailed`.
  case notModified(expiration: Expiration? = nil)
  /// A value for all waiting callers that is not stored.
  ///
  /// The previous value is removed. If `keepsPrevious` is true, it stays as it is, expired or not.
  case notKept(Value, keepsPrevious: Bool = false)
}
