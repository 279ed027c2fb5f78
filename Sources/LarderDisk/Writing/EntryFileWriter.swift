public import LarderBasics
import LarderSystem
import Synchronization

/// A writer for the bytes of a value that an asynchronous closure brings. It keeps none in memory,
/// and the value is visible only after the closure has succeeded.
public final class EntryFileWriter: Sendable {
  private let stream: Mutex<EntryStream?>
  private let description = Mutex(Description())
  private let executor: IOExecutor

  /// What the closure says of the value while it writes.
  private struct Description: Sendable {
    var expiration: Expiration?
    var extendedData: [UInt8]?
  }

  init(_ stream: consuming EntryStream, _ executor: IOExecutor) {
    self.stream = Mutex(stream)
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
    try await executor.run("store") { () throws(CacheError) in
      try self.stream.withLock { (stream) throws(CacheError) in
        guard var taken = stream.take() else { throw Self.ended }
        do throws(CacheError) {
          try taken.write(bytes.span)
        } catch {
          stream = consume taken
          throw error
        }
        stream = consume taken
      }
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

  /// Sets the data that are kept with the value, up to 1,024 bytes, in place of those that the call
  /// was given.
  ///
  /// For what is known only when the value comes, such as the `ETag` of a response. More bytes make
  /// the store fail with `.invalidArgument`. No effect after the closure has ended.
  ///
  /// - Complexity: O(bytes).
  public func setExtendedData(_ data: [UInt8]) {
    description.withLock { $0.extendedData = data }
  }

  static var ended: CacheError {
    CacheError(.closed, operation: "store", underlying: "the closure that wrote this has ended")
  }

  /// Returns a request with what the closure has said of the value.
  func described(_ request: DiskEngine.StoreRequest) -> DiskEngine.StoreRequest {
    let description = description.withLock { $0 }
    var request = request
    request.expiration = description.expiration ?? request.expiration
    request.extendedData = description.extendedData ?? request.extendedData
    return request
  }

  /// Ends the writer and returns the stream; nil if it has ended already.
  func takeStream() -> EntryStream? { stream.withLock { $0.take() } }

  /// Discards the bytes that were written and not published.
  package func end() {
    _ = takeStream()
  }
}
