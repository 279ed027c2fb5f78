public import LarderBasics
import LarderSystem
import Synchronization

/// The open file of an entry's value, for asynchronous code.
///
/// A sequence of pieces of at most 256 KiB, which are read as they are asked for:
///
/// ```swift
/// try await cache.withFile(forKey: url) { file in
///   for try await piece in file { try await socket.write(piece) }
/// }
/// ```
public final class EntryFileReader: Sendable {
  /// The bytes of the value.
  public let byteCount: Int
  /// The caller's own data kept with the value, empty when there are none.
  public let extendedData: [UInt8]
  /// The descriptor's number, open for reading until the closure has ended that was lent it, or
  /// until no reference to the reader is left.
  public let descriptor: Int32
  private let open: OpenFile
  /// The number of bytes that were read in turn.
  private let readCount = Atomic<Int>(0)
  private let hasEnded = Atomic<Bool>(false)
  private let executor: IOExecutor

  /// The file, apart from the reader, which it outlives until a thread of the cache has closed it.
  private final class OpenFile: Sendable {
    let file: Mutex<EntryFile?>

    init(_ file: consuming EntryFile) { self.file = Mutex(file) }
  }

  init(_ file: consuming EntryFile, _ executor: IOExecutor) {
    (byteCount, descriptor) = (file.byteCount, file.descriptor)
    extendedData = file.extendedData
    self.executor = executor
    open = OpenFile(file)
  }

  deinit { end() }

  /// Reads on, on one of the cache's threads.
  ///
  /// - Parameter count: The most bytes to read. The default is 256 KiB.
  /// - Returns: The bytes; fewer than asked for only at the end of the value, and none after it.
  /// - Throws: `CacheError`: `.io` if the file ends before `byteCount`, because it was truncated,
  ///   and for other errors of the system; `.cancelled` when the task was cancelled; `.closed`
  ///   after the closure has ended.
  /// - Complexity: O(bytes read), all of which are held in memory.
  public func read(upTo count: Int = 256 << 10) async throws(CacheError) -> [UInt8] {
    try await read(from: nil, upTo: count)
  }

  /// Reads at an offset, as `read(upTo:)` does, which goes on from where it was.
  public func read(at offset: Int, upTo count: Int) async throws(CacheError) -> [UInt8] {
    precondition(offset >= 0, "the offset to read at is negative")
    return try await read(from: offset, upTo: count)
  }

  private func read(from offset: Int?, upTo count: Int) async throws(CacheError) -> [UInt8] {
    precondition(count > 0, "the most bytes to read must be positive")
    // One that moves on is waited for also in a cancelled task.
    return try await executor.run("read", reads: offset != nil) { () throws(CacheError) in
      try self.open.file.withLock { (file) throws(CacheError) in
        let start = offset ?? self.readCount.load(ordering: .relaxed)
        let rest = Swift.max(0, self.byteCount - start)
        let bytes = try file?.read(from: start, Swift.min(count, rest))
        guard let bytes else { throw Self.ended }
        if offset == nil { self.readCount.wrappingAdd(bytes.count, ordering: .relaxed) }
        return bytes
      }
    }
  }

  /// Lends the file to a closure that is not asynchronous, and closes it.
  func lend<Result>(to body: (borrowing EntryFile) throws -> Result) throws -> Result {
    guard let file = open.file.withLock({ $0.take() }) else { throw Self.ended }
    hasEnded.store(true, ordering: .relaxed)
    return try body(file)
  }

  private static var ended: CacheError {
    CacheError(.closed, operation: "read", underlying: "the closure that was lent this has ended")
  }

  /// Closes the file, on one of the cache's threads, because that can take long for a removed file.
  func end() {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
    executor.submitEventually { [open] in _ = open.file.withLock { $0.take() } }
  }
}

extension EntryFileReader: AsyncSequence {
  public typealias Element = [UInt8]
  public typealias Failure = CacheError

  /// An iterator that reads on; several of one file share its pieces.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: EntryFileReader

    /// Reads the next piece; nil at the end.
    ///
    /// - Throws: `CacheError`, as `EntryFileReader.read(upTo:)` does.
    public mutating func next() async throws(CacheError) -> [UInt8]? {
      let piece = try await reader.read()
      return piece.isEmpty ? nil : piece
    }
  }

  /// Returns an iterator that begins where the file was read to.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: self) }
}

extension DiskCache {
  /// Lends the open file of a value to an asynchronous closure. It stays readable even if the entry
  /// is replaced or removed. Counts as a use.
  ///
  /// The content is checked before the closure runs, the first time that this process opens the
  /// file. It is not held in memory: the closure asks for piece after piece. It runs in the
  /// caller's task and actor; the cache's threads do the file work.
  ///
  /// - Returns: The closure's result; nil on a miss, in which case it is not called.
  /// - Throws: The closure's error, or `CacheError` as `value(forKey:extending:)` does.
  /// - Complexity: O(bytes) the first time that this process opens the file, else O(1).
  public func withFile<Result>(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    _ body: (EntryFileReader) async throws -> Result
  ) async throws -> Result? {
    guard let reader = try await openFile(forKey: key, extending: extending) else { return nil }
    defer { reader.end() }
    return try await body(reader)
  }

  /// Opens the file of a value, as `withFile(forKey:extending:_:)` does. It is closed when the last
  /// reference to the reader is gone.
  public func openFile(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil
  ) async throws(CacheError) -> EntryFileReader? {
    let key = key.cacheKey
    return try await executor.run("withFile", reads: true) { () throws(CacheError) in
      guard let file = try self.file(forKey: key, extending) else { return nil }
      return EntryFileReader(file, self.executor)
    }
  }
}
