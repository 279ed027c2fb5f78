public import LarderBasics
package import LarderSystem
import Synchronization

/// A cache in a directory that can be read with `ls`. Each entry is one file, named by the MD5 of
/// its key. The file's access time is the last use, and its modification time is the expiry.
///
/// All operations are safe from any thread, and any number of processes can use one directory.
/// Reads never wait for the scan that finds the directory's entries; totals and trims do. Objects
/// of one process that write to one directory share an index and their limits.
///
/// An operation throws `CacheError` for a failure that the caller can act on. A harmless failure,
/// such as a damaged file or one that was removed meanwhile, is a miss, counted by reason in
/// `statistics`.
public final class DiskCache: Sendable {
  package let engine: DiskEngine
  /// The layer above the engine whose values wait to be written; nil where none does.
  let behind: WriteBehind?
  private var tier: SharedTier { SharedTier(engine: engine, behind: behind) }
  /// The settings that apply to this object: its own expiration, `extending`, `coherence`, file
  /// extension, `shouldStore` and number of threads, and the rest of those of the directory's first
  /// opener in this process.
  public let configuration: Configuration
  /// The threads of asynchronous operations.
  package let executor: IOExecutor
  /// The threads of asynchronous operations, as the preference of a task that makes many
  /// synchronous calls and must not block Swift's pool meanwhile.
  public var taskExecutor: any TaskExecutor { executor }
  /// The threads of the callers' closures and of calls for the whole directory, apart from those
  /// that answer other calls, because they can take long: a copy to a slow socket, the first scan.
  package let longExecutor = IOExecutor(threadLimit: 1_000)
  package let fileExtension: FileExtension
  // Relaxed, because an operation that runs while another thread closes may still succeed. It is
  // waited for if it changes a name.
  private let isClosed = Atomic<Bool>(false)
  /// Whether each hit in memory first checks the directory for changes.
  @usableFromInline
  package let isStrict: Bool
  /// Whether each hit in memory counts as a use of the entry on disk at once.
  @usableFromInline
  package let countsMemoryHits: Bool

  /// Opens a cache, and makes its directory if it does not exist.
  ///
  /// If another directory takes the path meanwhile, either of the two is opened, as by a call just
  /// before or after that, and the replacement is no error.
  ///
  /// - Throws: `CacheError`: `.notADirectory`, `.permissionDenied`, `.unsafeDirectory`, `.locked`,
  ///   `.configurationConflict`, `.directoryMissing`, and more, which Handling errors lists.
  /// - Complexity: O(1), however many entries there are. If this process's last cache on the
  ///   directory is still writing its pending values, this waits for it.
  public init(
    directory: String, configuration: Configuration = Configuration()
  ) throws(CacheError) {
    configuration.checkPreconditions()
    // A shell replaces `~` by the home folder, and no system call does.
    guard !directory.hasPrefix("~"), !directory.split(separator: "/").contains("~") else {
      throw CacheError(
        .invalidArgument, operation: "open", path: directory,
        underlying: "only a shell knows ~; open Cache(named:) or spell the home folder out")
    }
    fileExtension = try configuration.parsedFileExtension()
    isStrict = configuration.followsNeighbours && configuration.coherence == .strict
    countsMemoryHits = configuration.valueMeasure != nil && !configuration.mode.isReadOnly
    executor = IOExecutor(threadLimit: configuration.threadCount)
    let tier = try EngineRegistry.attach(directory, configuration)
    (engine, behind) = (tier.engine, tier.behind)
    // Not under the registry's lock, because a clock of the caller's may open a cache as well.
    engine.readOwnClock()
    self.configuration = configuration.joining(engine.configuration)
    if followsNeighbours { engine.watching.isWanted.store(true, ordering: .relaxed) }
  }

  deinit {
    guard !isClosed.load(ordering: .relaxed) else { return }
    let tier = tier
    // In a forked child nothing is ended, because the parent's threads are not here, and unlocking
    // would release the parent's lock.
    guard !tier.engine.isForked else { return }
    guard EngineRegistry.detach(engine) else { return }
    // In the background, or by the next opener: the caller may be a job of the engine's.
    engine.waiting.submitEventually { tier.shutDownQuietly() }
    EngineRegistry.changed.own.value.signal()
  }

  /// Whether this object follows changes by other processes.
  package var followsNeighbours: Bool { configuration.followsNeighbours }

  /// The directory's absolute path, links resolved at opening; as it was given if that is too long.
  public var directory: String { engine.location.path }

  /// The counters since the directory was opened. Never waits. All are zero in a forked child.
  ///
  /// - Complexity: O(1), under the engine's lock.
  public var statistics: DiskStatistics {
    guard !engine.isForked else { return DiskStatistics() }
    var statistics = engine.withState { $0.counters.snapshot($0.catalog.scans) }
    statistics.promptReads = engine.promptReads.load(ordering: .relaxed)
    statistics.switchedReads = engine.switchedReads.load(ordering: .relaxed)
    statistics.isDirectoryUnsafe = engine.location.isUnsafe
    statistics.evictionOrder = engine.evictsByValue ? .leastValuable : .leastRecentlyUsed
    return statistics
  }

  /// Waits until everything accepted is on disk, and detaches from the directory. Any later use
  /// throws `.closed`; closing again does nothing.
  ///
  /// The last object on the directory also waits for the end of a removal of everything, and of
  /// stores and removals that have begun to change their name. Those that have not begun throw
  /// `.closed`, and an older value stays.
  ///
  /// - Throws: `CacheError`, the failure of the last writing. The cache is closed all the same.
  /// - Complexity: O(k) for k uses, evictions and removals that are pending, or the first scan's.
  public func close() throws(CacheError) {
    // The first call closes the cache; later ones return before that is done.
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    guard !engine.isForked else { return }
    engine.wakeTurns(looks: true)
    // While it is attached, because the last object of several ends the engine.
    let flushed = Result { () throws(CacheError) in try tier.flush() }
    if EngineRegistry.detach(engine) { try tier.shutDown() }
    try flushed.get()
  }

  /// Waits until pending uses are stamped and the files of evicted entries are gone.
  ///
  /// Does nothing for a cache that only reads. Syncs the directory as well if it is durable.
  ///
  /// - Throws: `CacheError`: `.closed`, `.forked`, and failures of writing.
  /// - Complexity: O(k) for k uses and evictions that are pending.
  public func flush() throws(CacheError) {
    try checkUsable("flush")
    try engine.countingErrors { () throws(CacheError) in try tier.flush() }
  }

  /// Whether `close()` has been called.
  package var hasClosed: Bool { isClosed.load(ordering: .relaxed) }

  /// Throws if the cache was closed or the process forked since it was opened.
  @usableFromInline
  package func checkUsable(_ operation: String) throws(CacheError) {
    if hasClosed { throw CacheError(.closed, operation: operation, path: directory) }
    if engine.isForked { throw CacheError(.forked, operation: operation, path: directory) }
  }

  /// Throws as `checkUsable` does, and writes what waits, for an operation on the whole directory.
  package func checkWhole(_ operation: String) throws(CacheError) {
    try checkUsable(operation)
    behind?.writeAll()
  }

  /// Makes the request of a store, with the configured expiration unless one is given.
  package func request(
    _ key: some CacheKeyConvertible, _ expiration: Expiration?, _ extendedData: [UInt8],
    isExclusive: Bool = false
  ) -> StoreRequest {
    let subject = subject(key)
    return StoreRequest(
      subject: subject, expiration: expiration ?? configuration.expiration,
      extendedData: extendedData, admits: configuration.shouldStore, isExclusive: isExclusive,
      onSettled: behind?.dropping(subject.name))
  }
}
