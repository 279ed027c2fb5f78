public import LarderBasics
import LarderSystem
import Synchronization

/// A stream that takes the bytes of a value as they come. The value is visible after the closure
/// that was given the stream returns, and never if the closure throws.
public struct EntryStream: ~Copyable, Sendable {
  var file: StagedFile
  private let engine: DiskEngine
  var room: StoreRoom
  /// The first failure to write.
  private(set) var failure: CacheError?
  /// Whether more bytes came than the cache may hold. The rest is not kept.
  private(set) var isTooLarge = false

  /// Starts the file of a name.
  ///
  /// - Parameter byteCount: The bytes that will come at least.
  init(_ engine: DiskEngine, _ name: EntryName, toHold byteCount: Int = 0) throws(CacheError) {
    var room = StoreRoom(evictionCount: engine.fullDiskMark.load(ordering: .relaxed))
    file = try engine.recovering(&room, for: byteCount) { () throws(CacheError) in
      try engine.stage(name, toHold: byteCount)
    }
    (self.engine, self.room) = (engine, room)
  }

  /// The bytes written so far.
  public var byteCount: Int { file.byteCount }
  private var limit: Int { engine.configuration.sizeLimit ?? .max }

  /// Adds bytes. Bytes beyond the cache's size limit are dropped, and the store is then rejected.
  ///
  /// - Throws: `CacheError`, when the file system fails or is full.
  /// - Complexity: O(bytes).
  public mutating func write(_ bytes: Span<UInt8>) throws(CacheError) {
    if byteCount + bytes.count > limit { isTooLarge = true }
    // Every write after a failed one fails alike, so that a closure which ignores one error does
    // not leave a gap in the value.
    if let failure { throw failure }
    try engine.checkWritable("store")
    if isTooLarge { return }
    try recovering(bytes.count) { (file) throws(Errno) in try file.write(bytes) }
  }

  /// Writes bytes, and keeps the failure.
  private mutating func recovering(
    _ byteCount: Int, _ write: (inout StagedFile) throws(Errno) -> Void
  ) throws(CacheError) {
    do throws(CacheError) {
      try engine.recovering(&room, for: byteCount) { () throws(CacheError) in
        try attempt("store", at: engine.location.path, write(&file))
      }
      room.evictionCount = engine.fullDiskMark.load(ordering: .relaxed)
    } catch {
      failure = error
      throw error
    }
  }

  /// Copies the content of the file at a path as the whole value.
  mutating func copyContent(
    of source: borrowing FileDescriptor, at path: String
  ) throws(CacheError) {
    let status = try attempt("store", at: path, source.status())
    let length = Int(clamping: status.byteCount)
    isTooLarge = length > limit
    if isTooLarge { return }
    try recovering(length) { (file) throws(Errno) in try file.copyContent(of: source) }
    isTooLarge = byteCount > limit
  }

  /// Adds bytes.
  ///
  /// - Throws: `CacheError`, when the file system fails or is full.
  /// - Complexity: O(bytes).
  public mutating func write(_ bytes: [UInt8]) throws(CacheError) { try write(bytes.span) }
}

/// A writer for the bytes of a value that an asynchronous closure brings. It keeps none in memory,
/// and the value is visible only after the closure has succeeded.
public final class EntryFileWriter: Sendable {
  private let stream: Mutex<EntryStream?>
  /// The request, to which the closure may say more of the value while it writes.
  private let description: Mutex<StoreRequest>
  private let executor: IOExecutor
  /// Whether bytes were left out because the task was cancelled.
  let isCut = Atomic<Bool>(false)

  init(_ stream: consuming EntryStream, of request: StoreRequest, _ executor: IOExecutor) {
    self.stream = Mutex(stream)
    description = Mutex(request)
    self.executor = executor
  }

  /// Adds bytes, and returns when the file system has taken them, so a closure that waits for it is
  /// no faster than the disk.
  ///
  /// Bytes beyond the cache's size limit are dropped, and the value is then rejected.
  ///
  /// - Throws: `CacheError`, when the file system fails or is full; `.cancelled` when the task was
  ///   cancelled, as that of a load is when no caller waits for it any more; `.closed` after the
  ///   closure has ended.
  /// - Complexity: O(bytes).
  public func write(_ bytes: [UInt8]) async throws(CacheError) {
    do throws(CacheError) {
      try await executor.run("store") { () throws(CacheError) in
        try self.stream.withLock { (stream) throws(CacheError) in
          guard try stream?.write(bytes.span) != nil else { throw Self.ended }
        }
      }
    } catch {
      if error.code == .cancelled { isCut.store(true, ordering: .relaxed) }
      throw error
    }
  }

  /// Sets the lifetime of the value, in place of the one that the call was given.
  ///
  /// For what is known only when the value comes, such as the `max-age` of a response. No effect
  /// after the closure has ended.
  ///
  /// - Complexity: O(1).
  public func setExpiration(_ expiration: Expiration) {
    description.withLock { $0.expiration = expiration }
  }

  /// Sets the data that are kept with the value, up to 1,024 bytes, in place of those of the call.
  ///
  /// For what is known only when the value comes, such as the `ETag` of a response. More bytes make
  /// the store fail with `.invalidArgument`. No effect after the closure has ended.
  ///
  /// - Complexity: O(bytes).
  public func setExtendedData(_ data: [UInt8]) { description.withLock { $0.extendedData = data } }

  var request: StoreRequest { description.withLock { $0 } }

  static var ended: CacheError {
    CacheError(.closed, operation: "store", underlying: "the closure that wrote this has ended")
  }

  /// Ends the writer and returns the stream; nil if it has ended already. A stream that is let go
  /// removes its file, so this is for the cache's threads alone.
  package func takeStream() -> EntryStream? { stream.withLock { $0.take() } }
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
    let request = request(key, expiration, extendedData)
    let start = try await executor.run("store", replaces: true, startStream, request)
    guard let writer = start.writer else { return start.outcome }
    let failure: (any Error)?
    do {
      try await body(writer)
      failure = nil
    } catch is CancellationError {
      failure = CacheError(.cancelled, operation: "store")
    } catch {
      failure = error
    }
    // Also in a cancelled task: the older value must not outlive a store that failed.
    return try await executor.run("store", toEnd: true) { () throws(CacheError) in
      defer { _ = writer.takeStream() }
      return try self.engine.finish(writer, failure: failure)
    }
  }

  /// Starts a store whose content an asynchronous closure writes. The caller takes the stream from
  /// the writer in the end.
  ///
  /// A store that fails here or in `finish` removes the older value, as every store does.
  ///
  /// - Returns: No writer if the value is rejected whatever its content; the outcome so far.
  package func startStream(
    _ request: StoreRequest
  ) throws(CacheError) -> (writer: EntryFileWriter?, outcome: StoreOutcome) {
    try checkStorable()
    return try engine.countingErrors { () throws(CacheError) in
      try engine.keepingPromise(request) { () throws(CacheError) in
        if let outcome = try engine.refusal(of: request) { return (nil, outcome) }
        let stream = try EntryStream(engine, request.subject.name)
        return (EntryFileWriter(stream, of: request, executor), .pending)
      }
    }
  }
}
