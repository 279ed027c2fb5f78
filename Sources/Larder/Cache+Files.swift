extension Cache {
  /// Lends the open file of a value. Without a valid value, a closure writes it first.
  ///
  /// ```swift
  /// let picture = try await images.withFile(forKey: url) { file in
  ///   try decode(file)
  /// } orStore: { writer in
  ///   for try await piece in try await download(url) { try await writer.write(piece) }
  /// }
  /// ```
  ///
  /// However many tasks ask for a file at once, one load runs, and each task is lent the file.
  /// Neither the written nor the read content is held in memory. A load that throws leaves nothing,
  /// and so does one that is cancelled because no task waits for it any more. If the key is stored
  /// or removed during the load, that wins: the waiting tasks look again.
  ///
  /// A load of the same key by `value(forKey:orStore:)` does not count as the same load. A load
  /// must not ask for its own key.
  ///
  /// The closure that reads has a thread of its own while it runs; see
  /// `DiskCache.withFile(forKey:extending:_:)`. To send the file through a socket, let the closure
  /// be asynchronous: then it holds no thread while it waits.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - expiration: The lifetime of the written value; the configured one when nil.
  ///   - extendedData: Up to 1,024 bytes kept with the value.
  ///   - body: Reads the file, on a thread that answers no other call. The file stays readable even
  ///     if the entry is replaced or removed meanwhile.
  ///   - load: Writes the value, in a task of its own.
  /// - Throws: The error of a closure; `CancellationError` when the calling task is cancelled
  ///   before there is a file; `CacheError` as a store does, and with `.notCached` if the written
  ///   value was rejected or left the cache at once. A cache with a limit of 0 rejects each value,
  ///   so there is no file to lend, while `value(forKey:orStore:)` returns what it loaded.
  /// - Complexity: O(bytes), with memory for one piece.
  public func withFile<Result: Sendable>(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [],
    _ body: @escaping @Sendable (borrowing EntryFile) throws -> Result,
    orStore load: @escaping @Sendable (EntryFileWriter) async throws -> Void
  ) async throws -> Result {
    let key = key.cacheKey
    return try await withFile(key, expiration, extendedData, load) {
      try await disk.withFile(forKey: key, body)
    }
  }

  /// Lends the open file of a value to an asynchronous closure. Without a valid value, another
  /// closure writes it first.
  ///
  /// The right form for work that waits for more than the disk, such as a socket: it holds no
  /// thread while it waits. It runs in the caller's task and actor, and reads the file in pieces;
  /// everything else, and each parameter, is as for a closure that is not asynchronous.
  ///
  /// ```swift
  /// try await images.withFile(forKey: url) { file in
  ///   for try await piece in file { try await socket.write(piece) }
  /// } orStore: { writer in
  ///   for try await piece in try await download(url) { try await writer.write(piece) }
  /// }
  /// ```
  ///
  /// - Throws: As that form does.
  /// - Complexity: O(bytes), with memory for one piece.
  public func withFile<Result>(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [],
    _ body: (EntryFileReader) async throws -> Result,
    orStore load: @escaping @Sendable (EntryFileWriter) async throws -> Void
  ) async throws -> Result {
    let key = key.cacheKey
    return try await withFile(key, expiration, extendedData, load) {
      try await disk.withFile(forKey: key, body)
    }
  }

  /// Lends a file, and writes it before if there is none.
  ///
  /// - Parameter lend: Lends the file; returns nil if there is none.
  private func withFile<Result>(
    _ key: CacheKey, _ expiration: Expiration?, _ extendedData: [UInt8],
    _ load: @escaping @Sendable (EntryFileWriter) async throws -> Void,
    lend: () async throws -> Result?
  ) async throws -> Result {
    do {
      // Three loads, because what one stores may be removed before its file is lent.
      for attempt in 0...3 {
        // The first look decides how the call counts. A closure that throws has got the file.
        var isFound = true
        defer { if attempt > 0 { flights.countLookAgain(isVainHit: isFound) } }
        if let result = try await lend() { return result }
        isFound = false
        if attempt == 3 { break }
        let outcome = try await fileFlights.value(
          of: key, clock: disk.engine.configuration.clock
        ) { flight in
          try await self.loadFile(key, expiration, extendedData, flight, load)
        }
        if case .rejected = outcome {
          throw CacheError(.notCached, operation: "withFile", underlying: "\(outcome)")
        }
      }
    } catch let error as CacheError where error.code == .cancelled && Task.isCancelled {
      throw CancellationError()
    }
    throw CacheError(
      .notCached, operation: "withFile", underlying: "what was written left the cache at once")
  }

  /// Runs one flight: looks once more, and writes the file. Runs in a task of its own.
  private func loadFile(
    _ key: CacheKey, _ expiration: Expiration?, _ extendedData: [UInt8], _ flight: FlightID,
    _ load: @Sendable (EntryFileWriter) async throws -> Void
  ) async throws -> StoreOutcome {
    try await inTurn(key, flight, configuration.singleFlight) {
      // The flight before this one may have ended between the miss and now.
      try await findsFile(key) ? .stored : nil
    } load: {
      guard let loadReplacement else {
        return try await writeFile(key, expiration, extendedData, flight, load)
      }
      return try await loadReplacement.loadFile(key, for: self) {
        try await writeFile(key, expiration, extendedData, flight, load)
      }
    }
  }

  /// Lets a load write a file, and publishes it.
  private func writeFile(
    _ key: CacheKey, _ expiration: Expiration?, _ extendedData: [UInt8], _ flight: FlightID,
    _ load: @Sendable (EntryFileWriter) async throws -> Void
  ) async throws -> StoreOutcome {
    let request = fileRequest(key, expiration, extendedData, flight)
    let (engine, executor) = (disk.engine, disk.executor)
    let start = try await executor.run("store", disk.startStream, request)
    guard let writer = start.writer else { return start.outcome }
    let outcome: StoreOutcome
    do {
      do {
        try await load(writer)
      } catch let error as CacheError {
        throw engine.counted(error)
      }
      outcome = try await executor.run("store") { () throws(CacheError) in
        try engine.finish(writer)
      }
    } catch {
      // Waited for, also in a cancelled task, because a load that throws leaves nothing.
      try await executor.run("store", toEnd: true) { () throws(CacheError) in
        _ = writer.takeStream()
      }
      throw error
    }
    // A newer store or a removal came first, so `withFile` looks again.
    return fileFlights.isWanted(flight) ? outcome : .stored
  }

  /// Whether a read finds a file.
  ///
  /// It is read and not only looked at, because `contains` also finds a file that no read serves,
  /// such as one that is damaged, and the load of its key would never run.
  private func findsFile(_ key: CacheKey) async throws(CacheError) -> Bool {
    let isFound = try await disk.executor.run("withFile", reads: true) { () throws(CacheError) in
      try self.disk.checkUsable("withFile")
      let found = try self.disk.read(
        self.disk.subject(key), for: .file, extending: .off)
      return found != nil
    }
    flights.countLookAgain(isVainHit: isFound)
    return isFound
  }

  private func fileRequest(
    _ key: CacheKey, _ expiration: Expiration?, _ extendedData: [UInt8], _ flight: FlightID
  ) -> StoreRequest {
    var request = disk.request(key, expiration, extendedData)
    request.origin = ObjectIdentifier(self)
    request.isLoad = true
    request.isWanted = { [unowned self] in fileFlights.isWanted(flight) }
    request.onChange = { [unowned self] _ in
      // The loads of its value, because this load of its file has stored one.
      depart(errors: flights.supersede(key))
      drop(key)
    }
    return request
  }
}

// The calls on files that the disk tier answers alone. The memory tier and the loads learn of a
// store from the disk tier.

extension Cache {
  /// Stores a value that a closure writes in pieces, none of which is kept in memory. The bytes are
  /// those that the coder would make of the value.
  ///
  /// The value is visible when the closure returns, and not at all if it throws: then this
  /// throws `.callerFailed`, or the closure's own `CacheError`.
  ///
  /// - Throws: `CacheError`, as `store(_:forKey:expiration:extendedData:)` does.
  /// - Complexity: O(bytes), with memory for one piece.
  @discardableResult
  public func store(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [], _ body: (inout EntryStream) throws -> Void
  ) throws(CacheError) -> StoreOutcome {
    try disk.store(forKey: key, expiration: expiration, extendedData: extendedData, body)
  }

  /// Stores a value that a closure writes in pieces, on a thread that answers no other call.
  @discardableResult
  public func store(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [], _ body: @escaping @Sendable (inout EntryStream) throws -> Void
  ) async throws(CacheError) -> StoreOutcome {
    try await disk.store(forKey: key, expiration: expiration, extendedData: extendedData, body)
  }

  /// Stores a value that an asynchronous closure writes in pieces, none of which is kept in memory.
  /// The bytes are those that the coder would make of the value.
  ///
  /// ```swift
  /// try await cache.store(forKey: url) { writer in
  ///   for try await piece in response.body { try await writer.write(piece) }
  /// }
  /// ```
  ///
  /// See `DiskCache.store(forKey:expiration:extendedData:_:)` for what holds while it comes, when
  /// it fails and when the task is cancelled.
  ///
  /// - Throws: `CacheError`, as that does.
  /// - Complexity: O(bytes), with memory for one piece.
  @discardableResult
  public func store(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [], _ body: (EntryFileWriter) async throws -> Void
  ) async throws(CacheError) -> StoreOutcome {
    try await disk.store(forKey: key, expiration: expiration, extendedData: extendedData, body)
  }

  /// Lends the open file of a value, always from the disk. It stays readable even if the entry is
  /// replaced or removed. Counts as a use.
  ///
  /// - Returns: The closure's result; nil on a miss, in which case it is not called.
  /// - Throws: The closure's error, or `CacheError` as `value(forKey:)` does.
  /// - Complexity: O(bytes) the first time that this process opens the file, else O(1).
  public func withFile<Result: ~Copyable>(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    _ body: (borrowing EntryFile) throws -> Result
  ) throws -> Result? {
    try disk.withFile(forKey: key, extending: extending, body)
  }

  /// Lends the open file of a value, on a thread that answers no other call. For work that waits
  /// for more than the disk, such as a socket, use the form with an asynchronous closure.
  public func withFile<Result: Sendable>(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    _ body: @escaping @Sendable (borrowing EntryFile) throws -> Result
  ) async throws -> Result? {
    try await disk.withFile(forKey: key, extending: extending, body)
  }

  /// Lends the open file of a value to an asynchronous closure, always from the disk. It stays
  /// readable even if the entry is replaced or removed. Counts as a use.
  ///
  /// - Returns: The closure's result; nil on a miss, in which case it is not called.
  /// - Throws: The closure's error, or `CacheError` as `value(forKey:)` does.
  /// - Complexity: O(bytes) the first time that this process opens the file, else O(1).
  public func withFile<Result>(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    _ body: (EntryFileReader) async throws -> Result
  ) async throws -> Result? {
    try await disk.withFile(forKey: key, extending: extending, body)
  }
}
