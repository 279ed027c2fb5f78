public import LarderBasics
public import LarderSystem

extension MemoryCache {
  /// The settings of a memory cache. Without changes: no limit, no expiry, one lock.
  public struct Configuration: Sendable {
    /// The most that all values may cost together, in the unit of ``cost``; 0 keeps nothing. The
    /// default is nil, no limit.
    public var costLimit: Int?
    /// The most values; 0 keeps nothing. The default is nil, no limit.
    public var countLimit: Int?
    /// How long a value stays without being used. The default is nil, no limit.
    public var ageLimit: Duration?
    /// The expiry of values that are stored without one. The default is `.never`.
    public var expiration = Expiration.never
    /// What a read does to the expiry. The default is `.lifetime`: it starts anew.
    public var extending = ExpirationExtending.lifetime
    /// The part of a passed limit that a trim goes down to, above 0 and up to 1. The default is 1:
    /// just to the limit, which keeps as much as possible. Less makes trims rarer and larger.
    public var trimTarget = 1.0
    /// The number of parts with a lock each: 1, 2, 4, 8 or 16. The default is 1.
    ///
    /// More of them let more threads in at once. Each has its part of the cost and count limits,
    /// and the order of use is exact within each only; a value must fit into one part.
    public var stripes = 1
    /// How often expired values are looked for that nobody reads; nil for never. The default is 120
    /// s.
    ///
    /// All caches of the process share the threads that do it, which run only while a value can
    /// expire. A planned sweep keeps neither the cache nor the process alive.
    public var sweepInterval: Duration? = .seconds(120)
    /// Whether the time of each use is recorded from the start, which ``trim(toAge:)`` goes by.
    ///
    /// It is recorded in any case once a value can expire or an age limit is set. The default is
    /// false: then the clock is never read.
    public var recordsUseTimes = false
    /// Where the time comes from. The default is `.systemCoarse`, 4 ms behind at most.
    public var clock = WallClock.systemCoarse
    /// What a value costs that is stored without a cost, called outside of the lock. The default is
    /// nil: each costs 1.
    public var cost: (@Sendable (Key, Value) -> Int)?
    /// Told of each value that leaves, and why, outside of the lock and on the thread whose call
    /// removed it. The default is nil.
    public var removalListener: (@Sendable (Key, Value, RemovalCause) -> Void)?

    /// Creates settings with limits; the others have their defaults.
    public init(costLimit: Int? = nil, countLimit: Int? = nil, ageLimit: Duration? = nil) {
      self.costLimit = costLimit
      self.countLimit = countLimit
      self.ageLimit = ageLimit
    }
  }
}

extension MemoryCache.Configuration {
  /// Purges down to a preferred level when the capacity is passed, so that purges are rare: the
  /// rule of AFAutoPurgingImageCache, whose levels are the defaults, 100 MiB and 60 MiB.
  ///
  /// Values must be stored with their cost in bytes, or ``cost`` be set.
  public static func purging(
    capacity: Int = 100 << 20, preferred: Int = 60 << 20
  ) -> MemoryCache.Configuration {
    precondition(
      preferred > 0 && preferred <= capacity, "the preferred level must lie within the capacity")
    var configuration = MemoryCache.Configuration(costLimit: capacity)
    configuration.trimTarget = Double(preferred) / Double(capacity)
    return configuration
  }

  var limits: MemoryLimits {
    MemoryLimits(cost: costLimit, count: countLimit, age: ageLimit, trimTarget: trimTarget)
  }
}

/// What a memory tier may hold, and how far it goes down when that is passed.
@usableFromInline
struct MemoryLimits: Hashable, Sendable {
  /// The most that all entries may cost together; nil for no limit.
  @usableFromInline
  var cost: Int?
  /// The most entries; nil for no limit.
  @usableFromInline
  var count: Int?
  /// How long an entry stays without a use; nil for no limit.
  @usableFromInline
  var age: Duration?
  /// The part of a passed limit that a trim goes down to, above 0 and up to 1.
  @usableFromInline
  var trimTarget: Double

  /// Collects the limits; a negative one traps.
  init(cost: Int?, count: Int?, age: Duration?, trimTarget: Double) {
    precondition(cost ?? 0 >= 0, "costLimit must not be negative; nil sets no limit")
    precondition(count ?? 0 >= 0, "countLimit must not be negative; nil sets no limit")
    precondition(age ?? .zero >= .zero, "ageLimit must not be negative; nil sets no limit")
    precondition(
      trimTarget > 0 && trimTarget <= 1, "trimTarget is a part of the limit: above 0, up to 1")
    self.cost = cost
    self.count = count
    self.age = age
    self.trimTarget = trimTarget
  }

  /// The part of the limits that falls to one of several stripes; the parts add up to the whole.
  func share(ofStripe index: Int, of stripes: Int) -> MemoryLimits {
    func part(_ limit: Int) -> Int { limit / stripes + (index < limit % stripes ? 1 : 0) }
    var limits = self
    limits.cost = cost.map(part)
    limits.count = count.map(part)
    return limits
  }

  /// What a trim goes down to when `limit` is passed.
  func target(of limit: Int) -> Int {
    trimTarget == 1 ? limit : Int((Double(limit) * trimTarget).rounded())
  }
}
