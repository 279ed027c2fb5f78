// `import Larder` exports the public types of the layers below as well.
@_exported public import LarderBasics
@_exported public import LarderDisk
@_exported public import LarderMemory
@_exported public import LarderSystem

/// A cache of values in memory and on disk: an exact LRU in front of a directory to read with `ls`.
///
/// ```swift
/// let pages = try Cache(named: "pages", coder: .string)
/// try await pages.store(html, forKey: url, expiration: .days(1))
/// let hit = try await pages.value(forKey: url)
/// ```
///
/// Safe to use from any thread. Operations on one key run one after the other across both tiers, so
/// disk, index and memory agree on the last one. Operations on other keys never wait for them. A
/// hit in memory touches no file.
///
/// Every operation that may touch the disk, but for opening, also has an asynchronous form of the
/// same name. Where that has to wait, a thread of the cache's own does, and none of Swift's.
public final class Cache<Value: Sendable>: Sendable {
  /// The tier in memory. It can be used alone; a value stored only there is not on disk.
  public let memory: MemoryCache<CacheKey, Value>
  /// The tier on disk. A value changed through it leaves the memory tier.
  public let disk: DiskCache
  /// The settings that the cache was opened with.
  public let configuration: CacheConfiguration
  /// Converts values to bytes and back. Called without any lock.
  package let coder: Coder<Value>
  /// The most encoded bytes of a value that memory keeps beside the disk.
  let memoryEntryCostLimit: Int
  /// The loads of this object. Another object on the same directory has its own.
  let flights = FlightControl<Value>()
  /// The loads of files of this object.
  let fileFlights = FlightControl<StoreOutcome>()
  /// A fixture that answers the loads, in a test.
  let loadReplacement: (any LoadReplacement)?
  /// The keys of the values in memory, to find the key when another process changes a file.
  let keptKeys = KeptKeys()
  let departures = Departures<Value>()

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
    memoryEntryCostLimit = configuration.memoryEntryCostLimit.byteCount(
      isOfBytes: coder.isOfBytes)
    disk = try DiskCache(directory: directory, configuration: configuration.disk)
    memory = MemoryCache(configuration.memory(), isOfOneProcess: true)
    if configuration.singleFlight == .directory { disk.engine.shareLoads() }
    // Last, because the observer may be called as soon as it is added.
    disk.engine.observers.add(self)
  }

  /// Opens a cache under `$XDG_CACHE_HOME`, or under `~/.cache` if that is not an absolute path.
  ///
  /// - Parameters:
  ///   - name: One component of a path: not empty, not `.` or `..`, without `/`.
  ///   - coder: The conversion of values to bytes and back.
  ///   - configuration: The settings of both tiers.
  /// - Throws: `CacheError`: `.invalidArgument` for another name or when there is no home, and as
  ///   `init(directory:coder:configuration:)` does.
  /// - Complexity: O(1), however many entries there are.
  public convenience init(
    named name: String, coder: Coder<Value>,
    configuration: CacheConfiguration = CacheConfiguration()
  ) throws(CacheError) {
    // Refused, not sanitised: two names that became one directory would be worse than an error.
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
      !name.utf8.contains(0)
    else {
      throw CacheError(
        .invalidArgument, operation: "open", underlying: "'\(name)' is not one path component")
    }
    guard let home = SystemEnvironment.cacheHome else {
      throw CacheError(
        .invalidArgument, operation: "open",
        underlying: "neither XDG_CACHE_HOME nor HOME is an absolute path")
    }
    try self.init(directory: "\(home)/\(name)", coder: coder, configuration: configuration)
  }

  deinit {
    // A thread that a forked child does not have may hold the lock.
    guard !disk.engine.isForked else { return }
    disk.engine.observers.remove(ObjectIdentifier(self))
    guard disk.engine.observers.isTelling else { return }
    // The engine may have held the last reference while it told this object of a change, with the
    // name held. So what is the caller's is released by other threads.
    memory.removeAll(.explicit, elsewhere: true)
    departures.add(Removals(), flights.supersedeAll() + fileFlights.supersedeAll())
    _ = disk.executor.submitAside { [memory, departures] in
      var values = departures.takeValues()
      memory.finish(&values)
    }
  }

  /// The counters of both tiers.
  ///
  /// Read from one tier after the other, so a sum over both may be off by what happened in between.
  /// Never waits for the disk. All are zero in a forked child.
  public var statistics: CacheStatistics {
    // There a thread that the child does not have may hold the locks.
    CacheStatistics(
      memory: memory.statistics, disk: disk.statistics,
      loads: disk.engine.isForked
        ? LoadStatistics() : flights.statistics.adding(fileFlights.statistics))
  }

  /// Waits until everything accepted is on disk.
  ///
  /// - Throws: `CacheError`: `.closed`, `.forked`, and the errors of the writes.
  /// - Complexity: O(k) for k uses and evictions that are pending.
  public func flush() throws(CacheError) {
    try disk.flush()
  }

  /// Waits until everything accepted is on disk and detaches from the directory. Any later use
  /// throws `.closed`.
  ///
  /// Empties the memory tier. Other objects on the directory stay open.
  ///
  /// - Throws: `CacheError`, the error of the last writes; the cache is closed all the same.
  /// - Complexity: O(k) for k uses and evictions that are pending.
  public func close() throws(CacheError) {
    // After the disk, so that values which reads bring meanwhile leave memory too. In a forked
    // child a thread that the child does not have may hold memory's lock, and the values are the
    // parent's.
    defer {
      if !disk.engine.isForked {
        memory.removeAll()
        forgetKeys()
        letGo()
        memory.observers.close()
        loadReplacement?.close()
      }
    }
    try disk.close()
  }
}

/// A snapshot of the counters of both tiers.
public struct CacheStatistics: Sendable, Hashable {
  /// The memory tier's counters.
  public let memory: MemoryStatistics
  /// The disk tier's counters; a read that memory answered does not reach them.
  public let disk: DiskStatistics
  /// The counters of the loads of values and of files.
  public let loads: LoadStatistics
}

/// The tier that would answer a read.
public enum CacheTier: String, Sendable, Hashable {
  /// The value is in memory.
  case memory
  /// The value is on disk only, or waits to be written there.
  case disk
}

/// The settings of a cache with two tiers.
public struct CacheConfiguration: Sendable {
  /// The most bytes that the values in memory may take, counted as they are encoded; nil for no
  /// limit. The default is 256 MiB, or a quarter of the machine's memory or of the process's
  /// cgroup's limit if that is less, as the first settings in the process find it.
  public var memoryCostLimit: Int? = defaultMemoryCostLimit
  private static let defaultMemoryCostLimit = min(256 << 20, SystemEnvironment.memoryLimit / 4)
  /// The most values in memory. The default is nil: one for each 512 bytes of ``memoryCostLimit``,
  /// and at least 4,096, because a value's key and place take some 400 bytes that no cost counts.
  public var memoryCountLimit: Int?
  /// The most bytes of one value in memory, counted as they are encoded. The default is
  /// `.automatic`.
  ///
  /// A larger value is stored on disk alone, and each read of it reads the file, whose bytes the
  /// kernel keeps in its page cache. A task that asks for it still joins a load that runs. The
  /// limit does not apply to loads with `.memoryOnly`, because no file holds their values.
  public var memoryEntryCostLimit = EntryCostLimit.automatic
  /// The longest time that memory serves a value before the disk is asked again; 300 s by default.
  ///
  /// A value is also served from memory no longer than the disk's `recencyGranularity` (60 s): then
  /// the next use goes to the disk, which moves its last access and expiry there.
  public var memoryExpiration = Expiration.seconds(300)
  /// The number of parts of the memory tier with a lock each: 1, 2, 4, 8 or 16. The default is 1.
  public var memoryStripes = 1
  /// The time between two sweeps of memory for expired values that are not read any more; nil for
  /// no sweeps. The default is 120 s.
  public var memorySweepInterval: Duration? = .seconds(120)
  /// The tasks that share one load of a key, those of this process or of all processes on the
  /// directory. The default is `.process`.
  public var singleFlight = SingleFlight.process
  /// The disk tier's settings.
  public var disk = DiskCache.Configuration()

  /// Creates the default settings, or with another limit in bytes for the files; nil for none.
  public init(sizeLimit: Int? = 1 << 30) { disk.sizeLimit = sizeLimit }
}

extension CacheConfiguration {
  /// A limit for one value in memory.
  public enum EntryCostLimit: Sendable, Hashable {
    /// 512 KiB with `Coder.bytes` and the coder of `Data`; `.unlimited` with any other coder.
    ///
    /// If the bytes are the value, a hit in memory saves reading them. From 64 KiB on, keeping a
    /// value takes as long as two further reads of its file, because the kernel has to find and
    /// clear pages for it, and the value takes memory twice. For a small value the system calls of
    /// a read outweigh that, so keeping it is worth while from the first hit on. With another coder
    /// a hit in memory also saves decoding, whose cost the cache does not know.
    case automatic
    /// No limit: each value that ``CacheConfiguration/memoryCostLimit`` admits.
    case unlimited
    /// A number of bytes, not negative. With 0, memory keeps empty values alone.
    case bytes(Int)

    /// Returns the most bytes of one value for a coder whose values are bytes, or are not.
    func byteCount(isOfBytes: Bool) -> Int {
      switch self {
      case .automatic: return isOfBytes ? 512 << 10 : .max
      case .unlimited: return .max
      case .bytes(let count):
        precondition(count >= 0, "memoryEntryCostLimit must not be negative")
        return count
      }
    }
  }

  /// Returns the settings of the memory tier.
  func memory<Value>() -> MemoryCache<CacheKey, Value>.Configuration {
    var configuration = MemoryCache<CacheKey, Value>.Configuration(
      costLimit: memoryCostLimit,
      countLimit: memoryCountLimit ?? memoryCostLimit.map { max(4_096, $0 / 512) })
    configuration.expiration = memoryExpiration
    // The disk decides how far a use extends the expiry. No hit in memory must outlive the file's.
    configuration.extending = .off
    configuration.stripes = memoryStripes
    configuration.sweepInterval = memorySweepInterval
    // The system's coarse clock is five times as fast. Any other clock is used for both tiers.
    configuration.clock = disk.clock.isSame(as: .system) ? .systemCoarse : disk.clock
    return configuration
  }
}
