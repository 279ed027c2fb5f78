import LarderBasics
import LarderDisk
import LarderMemory
import LarderSystem

/// Values kept in memory and on disk: an exact LRU in front of a directory that can be read with
/// `ls`.
///
/// ```swift
/// let pages = try Cache(named: "pages", coder: .string)
/// try pages.store(html, forKey: url, expiration: .days(1))
/// let hit = try pages.value(forKey: url)
/// ```
///
/// Safe from any thread. Operations on one key follow each other across both tiers, so that disk,
/// index and memory agree on who was last; other keys never wait. A hit in memory touches no file.
///
/// Every operation that may touch the disk has an asynchronous spelling of the same name, which
/// runs on threads of the cache's own and never blocks Swift's.
public final class Cache<Value: Sendable>: Sendable {
  /// The tier in memory. Using it alone is possible; what is stored there only is not on disk.
  public let memory: MemoryCache<CacheKey, Value>
  /// The tier on disk. What is changed through it leaves the memory tier.
  public let disk: DiskCache
  /// The settings that the cache was opened with.
  public let configuration: CacheConfiguration
  /// Called without any lock.
  package let coder: Coder<Value>
  /// The loads that are going on, in this object alone: another object on the directory loads by
  /// itself.
  let flights = FlightControl<Value>()
  /// The loads of files, in this object alone.
  let fileFlights = FlightControl<StoreOutcome>()
  /// A fixture that answers the loads, in a test.
  let loadReplacement: (any LoadReplacement)?
  /// The keys of what is in memory, for news of their files.
  let keptKeys = KeptKeys()

  /// Opens a cache in a directory, and makes the directory if it does not exist.
  ///
  /// - Throws: `CacheError`, as `DiskCache.init(directory:configuration:)` does.
  /// - Complexity: O(1), however many entries there are.
  public convenience init(
    directory: String, coder: Coder<Value>,
    configuration: CacheConfiguration = CacheConfiguration()
  ) throws(CacheError) {
    try self.init(
      directory: directory, coder: coder, configuration: configuration,
      loadReplacement: nil)
  }

  /// Opens a cache whose loads are answered by a replacement if there is one.
  package init(
    directory: String, coder: Coder<Value>, configuration: CacheConfiguration,
    loadReplacement: (any LoadReplacement)?
  ) throws(CacheError) {
    self.loadReplacement = loadReplacement
    self.configuration = configuration
    self.coder = coder
    disk = try DiskCache(directory: directory, configuration: configuration.disk)
    memory = MemoryCache(configuration.memory())
    // Last, when everything that a call could reach is there.
    disk.engine.observers.add(self)
  }

  /// Opens a cache under `$XDG_CACHE_HOME`, or under `~/.cache` where that is not set to an
  /// absolute path.
  ///
  /// - Parameters:
  ///   - name: One component of a path: not empty, not `.` or `..`, without `/`.
  ///   - coder: How values become bytes.
  ///   - configuration: The settings of both tiers.
  /// - Throws: `CacheError`: `.invalidArgument` for another name or when there is no home, and as
  ///   `init(directory:coder:configuration:)` does.
  /// - Complexity: O(1), however many entries there are.
  public convenience init(
    named name: String, coder: Coder<Value>,
    configuration: CacheConfiguration = CacheConfiguration()
  ) throws(CacheError) {
    // Refused and not cleaned up: two names that became one directory would be worse than an error.
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
      !name.utf8.contains(0)
    else {
      throw CacheError(
        .invalidArgument, operation: "open", underlying: "\(name) is not one path component")
    }
    guard let home = SystemEnvironment.cacheHome else {
      throw CacheError(
        .invalidArgument, operation: "open",
        underlying: "neither XDG_CACHE_HOME nor HOME is an absolute path")
    }
    try self.init(directory: "\(home)/\(name)", coder: coder, configuration: configuration)
  }

  deinit {
    disk.engine.observers.remove(ObjectIdentifier(self))
  }

  /// What both tiers did.
  ///
  /// Taken from the tiers one after the other, so that a sum over both may be off by what happened
  /// in between. Never waits for the disk.
  public var statistics: CacheStatistics {
    CacheStatistics(
      memory: memory.statistics, disk: disk.statistics, loads: flights.statistics)
  }

  /// Waits until everything accepted is on disk.
  ///
  /// - Throws: `CacheError`: `.closed`, `.forked`, and what writing met.
  /// - Complexity: O(k) for k uses and evictions that are pending.
  public func flush() throws(CacheError) {
    try disk.flush()
  }

  /// Waits until everything accepted is on disk and detaches from the directory. Any later use
  /// throws `.closed`.
  ///
  /// Leaves the memory tier empty. Other objects on the directory go on.
  ///
  /// - Throws: `CacheError`, what the last writing met; the cache is closed all the same.
  /// - Complexity: O(k) for k uses and evictions that are pending.
  public func close() throws(CacheError) {
    // After the disk, so that what a read has brought meanwhile goes too.
    defer {
      memory.removeAll()
      loadReplacement?.close()
    }
    try disk.close()
  }
}

/// A snapshot of what both tiers of a cache did.
public struct CacheStatistics: Sendable, Hashable {
  /// The memory tier's counters.
  public let memory: MemoryStatistics
  /// The disk tier's counters; a read that memory answered does not reach them.
  public let disk: DiskStatistics
  /// What loads through `value(forKey:orStore:)` came to.
  public let loads: LoadStatistics
}

/// Which tier would answer a read.
public enum CacheTier: String, Sendable, Hashable {
  /// The value is in memory.
  case memory
  /// The value is on disk only, or waits to be written there.
  case disk
}

extension Cache: EngineObserver {
  /// No load is superseded yet: a store that fails before its value shows may be tried again, and
  /// if a load's own first attempt superseded it, the second would be declined.
  package func entryChanges(_ subject: DiskEngine.Subject) {
    guard subject.name.fileExtension == disk.fileExtension else { return }
    memory.remove(forKey: subject.key, cause: .replaced)
  }

  /// Called while the name is held, so that a load which was begun before cannot be stored after.
  package func entryChanged(_ subject: DiskEngine.Subject) {
    // With another extension the key has another file, of a cache that only shares the directory.
    guard subject.name.fileExtension == disk.fileExtension else { return }
    flights.supersede(subject.key)
    fileFlights.supersede(subject.key)
    memory.remove(forKey: subject.key, cause: .replaced)
  }

  package func entriesCleared() {
    flights.supersedeAll()
    fileFlights.supersedeAll()
    memory.removeAll()
  }

  /// A load that is going on is stored when it ends, as if it had begun now: between processes the
  /// last store wins.
  package func fileChanged(_ name: EntryName?) {
    if let name {
      if let key = keptKeys.key(of: name) { memory.remove(forKey: key, cause: .replaced) }
    } else {
      memory.removeAll()
    }
  }
}
