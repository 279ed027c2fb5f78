import LarderDisk

/// The steps that apply a load's result to both tiers.
///
/// Each step checks, with the key's name held, that the load is still wanted. So a store or a
/// removal since the load began wins.
extension Cache {
  /// The value on disk that a load gets.
  struct PreviousValue: Sendable {
    let cached: CachedValue<Value>
    /// The identity by which `renew` checks that the file still holds this value.
    let identity: EntryIdentity
  }

  /// Reads the value on disk, expired or not, before a load.
  ///
  /// - Parameter isKept: Whether a valid value is kept in memory.
  func previousValue(of key: CacheKey, isKept: Bool) throws(CacheError) -> PreviousValue? {
    let subject = disk.subject(key)
    // Before the file is opened, so that a change after that is seen.
    if disk.followsNeighbours { disk.engine.startWatchingAside() }
    let found = try disk.read(
      subject, for: .valueAndData, extending: .off, staleness: ReadContext.anyStaleness)
    guard let found, let value = decoded(found.bytes) else { return nil }
    let cached = CachedValue(
      value: value, extendedData: found.extendedData, expiry: found.expiry,
      lastAccess: found.lastAccess,
      hasExpired: disk.hasExpired(found.expiry))
    if isKept && !cached.hasExpired { promote(value, subject, found) }
    let (bytes, data) = (found.bytes, found.extendedData)
    let status = Self.status(of: found.takeDescriptor())
    return PreviousValue(
      cached: cached, identity: EntryIdentity(bytes.span, data, status))
  }

  /// Returns the status of an open file; nil if there is no file or the system call fails.
  private static func status(of file: consuming FileDescriptor?) -> FileStatus? {
    guard let file else { return nil }
    do throws(Errno) {
      return try file.status()
    } catch {
      return nil
    }
  }

  /// Applies a load's result, and returns the value for its callers.
  ///
  /// - Throws: `CacheError` with `.callerFailed` for `.notModified` without a previous value.
  func settle(
    _ loaded: Loaded<Value>, of request: LoadRequest, _ previous: PreviousValue?,
    _ flight: FlightID
  ) async throws(CacheError) -> Value {
    switch loaded {
    case .value(let value, let expiration, let data):
      await settling(inMemory: request.options.isMemoryOnly) { () throws(CacheError) in
        try self.keep(value, expiration, data, of: request, flight)
      }
      return value
    case .notModified(let expiration):
      guard let previous else { throw Self.nothingToKeep }
      await settling { () throws(CacheError) in
        try self.renew(previous, expiration, of: request, flight)
      }
      return previous.cached.value
    case .notKept(let value, let keepsPrevious):
      if !keepsPrevious {
        await settling { () throws(CacheError) in try self.discard(request.key, flight) }
      }
      return value
    }
  }

  /// The error of a load that says `.notModified` without a previous value.
  package static var nothingToKeep: CacheError {
    CacheError(
      .callerFailed, operation: "value",
      underlying: "the load said notModified, and there was no previous value")
  }

  /// Runs a step on the cache's threads. Counts an error and does not throw it, because the caller
  /// has the value already.
  ///
  /// - Parameter isInMemory: Whether the step can be done in a cache that only reads.
  private func settling(
    inMemory isInMemory: Bool = false, _ step: @escaping @Sendable () throws(CacheError) -> Void
  ) async {
    guard !disk.engine.isReadOnly || isInMemory else { return }
    do throws(CacheError) {
      let observers = disk.engine.observers
      try await disk.executor.run("store") { () throws(CacheError) in
        defer { observers.letGo() }
        try step()
      }
    } catch  where error.code == .cancelled {
      // The load was given up, so its value is not wanted.
    } catch {
      flights.count { $0.unstored += 1 }
    }
  }

  /// Stores a loaded value in the tiers that take part.
  private func keep(
    _ value: Value, _ expiration: Expiration?, _ extendedData: [UInt8], of request: LoadRequest,
    _ flight: FlightID
  ) throws(CacheError) {
    guard request.options.isMemoryOnly else {
      _ = try store(
        value, request.key, expiration, extendedData, loadedBy: flight,
        isKept: !request.options.isDiskOnly)
      return
    }
    let (subject, isReadOnly) = (disk.subject(request.key), disk.engine.isReadOnly)
    let byteCount: Int
    do throws(CacheError) { byteCount = try coder.bytes(of: value).count } catch {
      if !isReadOnly { try discard(request.key, flight) }
      throw error
    }
    let now = disk.engine.now
    let expiry = (expiration ?? disk.configuration.expiration).expiry(at: now)
    let keep = {
      // No event of a store by another process may come.
      let isDeaf = self.disk.followsNeighbours && !self.disk.engine.hasEvents
      let end = isDeaf ? now.adding(self.disk.configuration.recencyGranularity) : .never
      self.keep(value, subject, byteCount: byteCount, until: min(expiry, end), isAlone: true) {
        self.flights.isWanted(flight) && !self.disk.engine.hasLateChanges(of: subject.name)
      }
    }
    // Before the older value is removed, so that a value which another process stores after that
    // is seen. Waits for it, because the disk is not asked again as for a value that is there too.
    if disk.followsNeighbours { disk.engine.startWatching() }
    // The events of stores by this process, of which those of the removal would else be a part.
    _ = disk.engine.catchUp()
    if isReadOnly { return keep() }
    try discard(request.key, flight, then: keep)
  }

  /// Gives the previous value a new expiry in both tiers, without writing its content.
  private func renew(
    _ previous: PreviousValue, _ expiration: Expiration?, of request: LoadRequest,
    _ flight: FlightID
  ) throws(CacheError) {
    let isKept = !request.options.isDiskOnly
    var touch = disk.request(request.key, expiration, [])
    let subject = touch.subject
    touch.isWanted = { [unowned self] in flights.isWanted(flight) }
    touch.onChange = { [unowned self] touched in
      guard isKept, let touched else { return }
      keep(
        previous.cached.value, subject, byteCount: touched.byteCount,
        until: servedUntil(expiry: touched.expiry, lifetime: touched.lifetime)
      ) {
        flights.isWanted(flight)
          && !disk.engine.hasLateChanges(of: subject.name, since: touched)
      }
    }
    do throws(CacheError) {
      if try disk.touch(touch, revives: true, previous.identity) {
        flights.count { $0.renewed += 1 }
      }
    } catch  where error.code == .permissionDenied {
      // Another user's file in a shared group cannot be stamped, but can be replaced.
      // See: man 2 utimensat, EPERM.
      _ = try store(
        previous.cached.value, request.key, expiration, previous.cached.extendedData,
        loadedBy: flight, isKept: isKept)
    }
  }

  /// Removes the previous value, without superseding the load that asks for it.
  ///
  /// - Parameter keep: Puts the load's value into memory. Runs with the name held, so that the
  ///   value leaves memory if another process stores one meanwhile.
  private func discard(
    _ key: CacheKey, _ flight: FlightID, then keep: () -> Void = {}
  ) throws(CacheError) {
    let subject = disk.subject(key)
    var request = disk.request(key, .expired, [])
    request.origin = ObjectIdentifier(self)
    request.isWanted = { [unowned self] in flights.isWanted(flight) }
    _ = try disk.engine.remove(
      subject.name, subject, onSettled: request.onSettled, of: request
    ) { isFree in
      drop(key)
      if isFree { keep() }
    }
  }
}
