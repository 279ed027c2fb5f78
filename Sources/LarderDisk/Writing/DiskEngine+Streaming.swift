public import LarderBasics
package import LarderSystem

extension DiskEngine {
  /// The start of a store whose content an asynchronous closure writes.
  package enum StreamStart: Sendable {
    /// The closure can write.
    case writer(EntryFileWriter)
    /// The value would not be stored whatever its content.
    case rejected(StoreOutcome)
  }

  /// Starts a store whose content an asynchronous closure writes. The caller takes the stream from
  /// the writer in the end.
  ///
  /// A store that fails here or in `finish` removes the older value, as every store does.
  package func startStream(
    _ request: StoreRequest, _ executor: IOExecutor
  ) throws(CacheError) -> StreamStart {
    try countingErrors { () throws(CacheError) in
      if let outcome = try refusal(of: request) { return .rejected(outcome) }
      return try keepingPromise(request) { () throws(CacheError) in
        .writer(EntryFileWriter(try openStream(request), executor))
      }
    }
  }

  /// Publishes what was written; or discards it, if the closure that wrote it has failed.
  ///
  /// - Throws: `CacheError`: the failure of the closure, or of the store.
  package func finish(
    _ writer: EntryFileWriter, _ request: StoreRequest, failure: (any Error)? = nil
  ) throws(CacheError) -> StoreOutcome {
    let request = writer.described(request)
    return try countingErrors { () throws(CacheError) in
      // Checked again, because the closure may have set expiration and extended data.
      if failure == nil, let outcome = try refusal(of: request) { return outcome }
      return try keepingPromise(request) { () throws(CacheError) in
        guard var stream = writer.takeStream() else { throw EntryFileWriter.ended }
        return try complete(&stream, request) { _ in
          if let failure { throw failure }
        }
      }
    }
  }
}

extension DiskCache {
  /// Stores a value that an asynchronous closure writes in pieces, none of which is kept in memory.
  ///
  /// ```swift
  /// try await cache.store(forKey: url) { writer in
  ///   for try await piece in response.body { try await writer.write(piece) }
  /// }
  /// ```
  ///
  /// Each `write` returns when the file system has taken the bytes, so that a source which is
  /// faster than the disk is made to wait. The closure runs in the caller's task and actor; the
  /// cache's threads do the file work. A value that is stored or removed meanwhile does not end the
  /// store: the last to finish wins.
  ///
  /// The value is visible when the closure has returned, also if the task was cancelled in between.
  /// If the closure throws, as `write` does in a cancelled task, the store has failed: nothing of
  /// it is left, and the older value is removed, as with any store that fails.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - expiration: The lifetime of the value; the configured one when nil. The closure can set it
  ///     with `EntryFileWriter.setExpiration(_:)`.
  ///   - extendedData: Up to 1,024 bytes kept with the value. The closure can set them with
  ///     `EntryFileWriter.setExtendedData(_:)`.
  ///   - body: Writes the value. Not called if the value would be rejected in any case.
  /// - Throws: `CacheError`, as the store of a span does; `.callerFailed` for an error of the
  ///   closure that is no `CacheError`; `.cancelled` when the task was cancelled, with
  ///   `oldValueRemains` if that was before the store began.
  /// - Complexity: O(bytes), with memory for one piece.
  @discardableResult
  public func store(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [], _ body: (EntryFileWriter) async throws -> Void
  ) async throws(CacheError) -> StoreOutcome {
    let (engine, executor) = (engine, executor)
    let request = request(key.cacheKey, expiration, extendedData)
    let start = try await executor.run("store", replaces: true) { () throws(CacheError) in
      try self.checkStorable()
      return try engine.startStream(request, executor)
    }
    switch start {
    case .rejected(let outcome): return outcome
    case .writer(let writer):
      let failure = await Self.failure(of: body, writer)
      // Also in a cancelled task: the older value must not outlive a store that failed.
      return try await executor.runToEnd { () throws(CacheError) in
        defer { _ = writer.takeStream() }
        return try engine.finish(writer, request, failure: failure)
      }
    }
  }

  /// Runs a closure that writes, and returns its error.
  private static func failure(
    of body: (EntryFileWriter) async throws -> Void, _ writer: EntryFileWriter
  ) async -> (any Error)? {
    do {
      try await body(writer)
      return nil
    } catch is CancellationError {
      return CacheError(.cancelled, operation: "store")
    } catch {
      return error
    }
  }
}
