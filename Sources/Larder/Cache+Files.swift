extension Cache {
  /// Lends the open file of a value; without a valid one, a closure writes it first.
  ///
  /// ```swift
  /// let count = try await images.withFile(forKey: url) { file in
  ///   try copy(file, to: socket)
  /// } orStore: { writer in
  ///   for try await piece in response.body { try await writer.write(piece) }
  /// }
  /// ```
  ///
  /// However many tasks ask for a file at once, one load runs, and each of them is lent the file.
  /// Neither what is written nor what is read is held in memory. A load that throws, or that nobody
  /// waits for any more and which is cancelled then, leaves nothing. A store or a removal of the key
  /// during the load wins: the waiting tasks look again.
  ///
  /// A load of the same key by `value(forKey:orStore:)` does not count as the same load. A load must
  /// not ask for its own key.
  ///
  /// - Parameters:
  ///   - key: What the value is found by.
  ///   - expiration: How long the written value is valid; the configured time when nil.
  ///   - extendedData: Up to 1,024 bytes kept beside the value.
  ///   - body: Reads the file, on one of the cache's threads; the file stays readable whatever
  ///     happens to the entry meanwhile.
  ///   - load: Writes the value, in a task of its own.
  /// - Throws: What the closures throw; `CancellationError` when the calling task is cancelled before
  ///   there is a file; `CacheError` as a store does, and with `.notCached` where the written value
  ///   was rejected or left the cache at once.
  /// - Complexity: O(bytes), in the memory of a piece.
  public func withFile<Result: Sendable>(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [],
    _ body: @escaping @Sendable (borrowing EntryFile) throws -> Result,
    orStore load: @escaping @Sendable (EntryFileWriter) async throws -> Void
  ) async throws -> Result {
    let key = key.cacheKey
    do {
      // More than once, for what was stored may have been removed before it could be lent.
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

  /// What one flight does: look once more, write, publish. Runs in a task of its own.
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
    // A newer store or a removal came first: there is something else to be lent, or to be loaded.
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
