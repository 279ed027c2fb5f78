public import LarderBasics
import LarderDigest
package import LarderSystem
import Synchronization

/// A cache in a directory that can be read with `ls`: one file per entry, named by the MD5 of its
/// key, whose access time is the last use and whose modification time is the expiry.
///
/// Everything here is safe from any thread, and any number of processes can use one directory.
/// Reads never wait for the scan that finds out what the directory holds; totals and trims do.
/// Objects of one process on one directory share an index and their limits.
///
/// An operation throws `CacheError` for what the caller can act on. A harmless
/// failure, such as a damaged file or one that was removed meanwhile, is a miss, counted by reason
/// in `statistics`.
public final class DiskCache: Sendable {
  package let engine: DiskEngine
  /// The threads of asynchronous operations. In a forked child they are others, which tell that the
  /// cache is its parent's.
  package var executor: IOExecutor { executors.own.value }
  package let executors: PerProcess<IOExecutor>
  package let fileExtension: FileExtension
  // Relaxed: an operation that runs while another thread closes may still succeed, and is waited
  // for where it changes a name.
  private let isClosed = Atomic<Bool>(false)
  /// What a store without an expiration gets, through this object.
  package let expiration: Expiration
  private let shouldStore: (@Sendable (CacheKey, _ byteCount: Int) -> Bool)?
  /// What an access through this object does to the expiry.
  package let extending: ExpirationExtending
  /// Whether this object wants to hear of what others do to the directory.
  package let followsNeighbours: Bool
  /// Whether nothing in memory is trusted before the directory was asked.
  @usableFromInline
  package let isStrict: Bool

  /// Opens a cache, and makes its directory if it does not exist.
  ///
  /// - Throws: `CacheError`: `.notADirectory`, `.permissionDenied`, `.unsafeDirectory`, `.locked`,
  ///   `.configurationConflict`, `.directoryMissing` (read-only), `.invalidArgument`, `.io`.
  /// - Complexity: O(1), however many entries there are. While this process's last cache on the
  ///   directory still writes what it left pending, this waits for it.
  public init(
    directory: String, configuration: Configuration = Configuration()
  ) throws(CacheError) {
    configuration.checkPreconditions()
    guard !directory.isEmpty, !directory.utf8.contains(0) else {
      throw CacheError(.invalidArgument, operation: "open", path: directory)
    }
    // A shell puts the home folder in its place, and no system call does.
    guard !directory.hasPrefix("~"), !directory.split(separator: "/").contains("~") else {
      throw CacheError(
        .invalidArgument, operation: "open", path: directory,
        underlying: "only a shell knows ~; open Cache(named:) or spell the home folder out")
    }
    fileExtension = try configuration.parsedFileExtension()
    expiration = configuration.expiration
    shouldStore = configuration.shouldStore
    extending = configuration.extending
    followsNeighbours = configuration.followsNeighbours
    isStrict = followsNeighbours && configuration.coherence == .strict
    let threadCount = configuration.threadCount
    executors = PerProcess { IOExecutor(threadLimit: threadCount) }
    engine = try EngineRegistry.attach(directory, configuration)
    if followsNeighbours { engine.watching.isWanted.store(true, ordering: .relaxed) }
  }

  deinit {
    guard !isClosed.load(ordering: .relaxed) else { return }
    let engine = engine
    // In a forked child nothing is ended: the parent's threads are not here, and unlocking would
    // unlock the parent.
    guard !engine.isForked, EngineRegistry.detach(engine) else { return }
    // The caller did not ask to wait, so the last uses are written behind its back.
    IOExecutor.endings.submit { engine.shutDownQuietly() }
  }

  /// The directory's absolute path, links resolved at opening.
  public var directory: String { engine.location.path }

  /// The settings of the directory's first opener. They are in force, but for those that each
  /// object has for itself: expiration, extending, the file extension, `shouldStore` and its
  /// threads.
  public var configuration: Configuration { engine.configuration }

  /// What happened since the directory was opened. Never waits.
  ///
  /// - Complexity: O(1), under the engine's lock.
  public var statistics: DiskStatistics { engine.withState { $0.snapshot } }

  /// Waits until everything accepted is on disk, and detaches from the directory. Any later use
  /// throws `.closed`; closing again does nothing.
  ///
  /// The last object on the directory also waits for the end of a removal of everything, and of
  /// stores and removals that have begun to change their name; what has not by then throws
  /// `.closed`, and an older value stays.
  ///
  /// - Throws: `CacheError`, what the last writing met; the cache is closed all the same.
  /// - Complexity: O(k) for k uses, evictions and removals that are pending.
  public func close() throws(CacheError) {
    // The first who closes does it; the others return before it is done.
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    guard !engine.isForked else { return }
    if EngineRegistry.detach(engine) {
      try engine.shutDown()
    } else {
      try engine.flush()
    }
  }

  /// Waits until pending uses are stamped and the files of evicted entries are gone.
  ///
  /// Nothing to do for a cache that only reads. Where the directory is durable, it is synced as
  /// well.
  ///
  /// - Throws: `CacheError`: `.closed`, `.forked`, and what writing met.
  /// - Complexity: O(k) for k uses and evictions that are pending.
  public func flush() throws(CacheError) {
    try checkUsable("flush")
    try engine.countingErrors { () throws(CacheError) in try engine.flush() }
  }

  /// Throws if the cache was closed or the process forked since it was opened.
  @usableFromInline
  package func checkUsable(_ operation: String) throws(CacheError) {
    if isClosed.load(ordering: .relaxed) {
      throw CacheError(.closed, operation: operation, path: directory)
    }
    if engine.isForked { throw CacheError(.forked, operation: operation, path: directory) }
  }

  /// Whether a value in memory may be served now: always, unless this object is strict and it
  /// cannot be known what others have done.
  ///
  /// - Complexity: One comparison; for a strict object one system call when nothing has happened.
  @inlinable
  package func mayAnswerFromMemory() -> Bool {
    !isStrict || isMemoryCurrent()
  }

  /// Learns of everything that others have done until now, and says whether that was possible.
  @usableFromInline
  func isMemoryCurrent() -> Bool { engine.catchUp() }

  /// A key with the name that it has here.
  ///
  /// The digest is computed here, in the caller's thread and outside of every lock.
  package func subject(_ key: some CacheKeyConvertible) -> DiskEngine.Subject {
    let key = key.cacheKey
    let digest = key.withBytes { MD5.digest(of: $0) }
    return DiskEngine.Subject(
      key: key, name: EntryName(digest: digest, fileExtension: fileExtension))
  }

  /// What is stored under a key, with the configured expiration unless one is given.
  package func request(
    _ key: some CacheKeyConvertible, _ expiration: Expiration?, _ extendedData: [UInt8]
  ) -> DiskEngine.StoreRequest {
    DiskEngine.StoreRequest(
      subject: subject(key), expiration: expiration ?? self.expiration,
      extendedData: extendedData, admits: shouldStore)
  }
}
