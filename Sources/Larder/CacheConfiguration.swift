import LarderBasics
import LarderDisk
import LarderMemory
import LarderSystem

/// The settings of a cache with two tiers.
public struct CacheConfiguration: Sendable {
  /// The most bytes that the values in memory may take, counted as they are encoded; nil for no
  /// limit. The default is a quarter of the machine's memory or of the process's cgroup's limit,
  /// whichever is smaller.
  public var memoryCostLimit: Int? = SystemEnvironment.memoryLimit / 4
  /// The most values in memory. The default is nil, no limit.
  public var memoryCountLimit: Int?
  /// The longest time that a value is served from memory before the disk is asked again. The
  /// default is 300 s.
  ///
  /// A value is also served from memory no longer than the disk's `recencyGranularity` (60 s): then
  /// the next use goes to the disk, which moves its last access and expiry there.
  public var memoryExpiration = Expiration.seconds(300)
  /// The number of parts of the memory tier with a lock each: 1, 2, 4, 8 or 16. The default is 1.
  public var memoryStripes = 1
  /// The time between two sweeps of memory for expired values that are not read any more; nil for
  /// no sweeps. The default is 120 s.
  public var memorySweepInterval: Duration? = .seconds(120)
  /// The disk tier's settings.
  public var disk = DiskCache.Configuration()

  /// Creates the default settings.
  public init() {}
}

extension CacheConfiguration {
  /// Returns the settings of the memory tier.
  func memory<Value>() -> MemoryCache<CacheKey, Value>.Configuration {
    var configuration = MemoryCache<CacheKey, Value>.Configuration(
      costLimit: memoryCostLimit, countLimit: memoryCountLimit)
    configuration.expiration = memoryExpiration
    // The disk decides how far a use extends the expiry. A hit in memory must not outlive the
    // file's.
    configuration.extending = .off
    configuration.stripes = memoryStripes
    configuration.sweepInterval = memorySweepInterval
    // The system's coarse clock is five times as fast. Any other clock is used for both tiers.
    configuration.clock = disk.clock.isSame(as: .system) ? .systemCoarse : disk.clock
    return configuration
  }
}
