extension Cache {
  /// Lends the open file of a value. Without a valid value, a closure writes it first.
  ///
  /// ```swift
  /// let count = try await images.withFile(forKey: url) { file in
  ///   try copy(file, to: socket)
  /// } orStore: { writer in
  ///   for try await piece in response.body { try await writer.write(piece) }
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
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - expiration: The lifetime of the written value; the configured one when nil.
  ///   - extendedData: Up to 1,024 bytes kept with the value.
  ///   - body: Reads the file, on one of the cache's threads. The file stays readable even if the
  ///     entry is replaced or removed meanwhile.
  ///   - load: Writes the value, in a task of its own.
  /// - Throws: The error of a closure; `CancellationError` when the calling task is cancelled
  ///   before there is a file; `CacheError` as a store does, and with `.notCached` if the written
  ///   value was rejected or left the cache at once.
  /// - Complexity: O(bytes), with memory for one piece.
  public func withFile<Result: Sendable>(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [],
    _ body: @escaping @Sendable (borrowing EntryFile) throws -> Result,
    orStore load: @escaping @Sendable (EntryFileWriter) async throws -> Void
  ) async throws -> Result {
    let key = key.cacheKey
    do {
      // Three times, because the stored value may be removed before its file is lent.
      for _ in 0..<3 {
        if let result = try await disk.withFile(forKey: key, body) { return result }
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

  /// Runs one flight: looks once more, writes, publishes. Runs in a task of its own.
  private func loadFile(
    _ key: CacheKey, _ expiration: Expiration?, _ extendedData: [UInt8], _ flight: FlightID,
    _ load: @Sendable (EntryFileWriter) async throws -> Void
  ) async throws -> StoreOutcome {
    // The flight before this one may have ended between the miss and now.
    if try await disk.contains(key) { return .stored }
    let request = fileRequest(key, expiration, extendedData, flight)
    let (engine, executor) = (disk.engine, disk.executor)
    let writer = try await executor.run("store") { () throws(CacheError) in
      try self.disk.checkStorable()
      return EntryFileWriter(try engine.openStream(request), executor)
    }
    defer { writer.end() }
    try await load(writer)
    let outcome = try await executor.run("store") { () throws(CacheError) in
      try engine.countingErrors { () throws(CacheError) in try writer.finish(request, in: engine) }
    }
    // A newer store or a removal came first, so `withFile` looks again.
    return fileFlights.isWanted(flight) ? outcome : .stored
  }

  private func fileRequest(
    _ key: CacheKey, _ expiration: Expiration?, _ extendedData: [UInt8], _ flight: FlightID
  ) -> DiskEngine.StoreRequest {
    var request = disk.request(key, expiration, extendedData)
    request.origin = ObjectIdentifier(self)
    request.isWanted = { [unowned self] in fileFlights.isWanted(flight) }
    request.onPublish = { [unowned self] _ in
      flights.supersede(key)
      fileFlights.noteStored(key, by: flight)
      memory.remove(forKey: key, cause: .replaced)
    }
    return request
  }
}
