public import LarderBasics
package import LarderSystem
import Synchronization

/// Takes the bytes of a value as an asynchronous load brings them. None is kept in memory, and none
/// is seen before the load has ended well.
public final class EntryFileWriter: Sendable {
  private let stream: Mutex<EntryStream?>
  private let executor: IOExecutor

  package init(_ stream: consuming EntryStream, _ executor: IOExecutor) {
    self.stream = Mutex(stream)
    self.executor = executor
  }

  /// Adds bytes, and returns when the file system has taken them: a load that waits for it is no
  /// faster than the disk.
  ///
  /// What exceeds the cache's size limit is dropped, and the value is then rejected.
  ///
  /// - Throws: `CacheError`, when the file system fails or is full; `.cancelled` when nobody waits
  ///   for the load any more; `.closed` after the load has ended.
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

  private static var ended: CacheError {
    CacheError(.closed, operation: "store", underlying: "the load that wrote this has ended")
  }

  /// Publishes what was written.
  package func finish(
    _ request: DiskEngine.StoreRequest, in engine: DiskEngine
  ) throws(CacheError) -> StoreOutcome {
    try engine.store(request) { stream in
      guard let whole = self.stream.withLock({ $0.take() }) else { throw Self.ended }
      stream = whole
    }
  }

  /// Gives up what was written and was not published.
  package func end() {
    _ = stream.withLock { $0.take() }
  }
}
