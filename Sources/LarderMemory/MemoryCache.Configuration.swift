public import LarderBasics
public import LarderSystem

extension MemoryCache {
  /// The settings of a memory cache. The defaults set no limit, no expiry and one lock.
  public struct Configuration: Sendable {
    /// The highest cost of all values together, in the unit of ``cost``; 0 keeps nothing. The
    /// default is nil, no limit.
    public var costLimit: Int?
    /// The most values; 0 keeps nothing. The default is nil, no limit.
    public var countLimit: Int?
    /// The longest time that a value stays without a use. The default is nil, no limit.
    public var ageLimit: Duration?
    /// The expiry of values that are stored without one. The default is `.never`.
    public var expiration = Expiration.never
    /// The change of the expiry by a read. The default is `.off`: a lifetime counts from the store.
    public var extending = ExpirationExtending.off
    /// The part of an exceeded limit that a trim goes down to, above 0 and up to 1. The default is
    /// 1: just to the limit, which keeps as much as possible. Less makes trims rarer and larger, as
    /// with 0.6 and a ``costLimit`` of 100 MiB in AFAutoPurgingImageCache.
    public var trimTarget = 1.0
    /// The number of parts with a lock each: 1, 2, 4, 8 or 16. The default is 1.
    ///
    /// More parts let more threads in at once. Each part has its share of the cost and count
    /// limits, the order of use is exact only within a part, and a value must fit into one part.
    public var stripes = 1
    /// The time between sweeps for expired values that are not read any more; nil for no sweeps.
    /// The default is 120 s.
    ///
    /// All caches of the process share the sweeping threads, which run only while a value can
    /// expire. A planned sweep keeps neither the cache nor the process alive.
    public var sweepInterval: Duration? = .seconds(120)
    /// Whether the time of each use is recorded from the start; ``trim(toAge:)`` needs it.
    ///
    /// It is recorded in any case once a value can expire or an age limit is set. The default is
    /// false: then the clock is never read.
    public var recordsUseTimes = false
    /// The source of the time. The default is `.systemCoarse`, 4 ms behind at most.
    public var clock = WallClock.systemCoarse
    /// The cost of a value that is stored without one. Called outside of the lock. The default is
    /// nil: each value costs 1.
    public var cost: (@Sendable (Key, Value) -> Int)?
    /// Called with each value that leaves and the cause, outside of the lock, on the thread whose
    /// call removed it. The default is nil.
    public var removalListener: (@Sendable (Key, Value, RemovalCause) -> Void)?

    /// Creates settings with limits; all other settings have their defaults.
    public init(costLimit: Int? = nil, countLimit: Int? = nil, ageLimit: Duration? = nil) {
      self.costLimit = costLimit
      self.countLimit = countLimit
      self.ageLimit = ageLimit
    }
  }
}

/// The limits of a memory tier, and the level that a trim goes down to.
@usableFromInline
struct MemoryLimits: Hashable, Sendable {
  /// The highest cost of all entries together; nil for no limit.
  @usableFromInline
  var cost: Int?
  /// The most entries; nil for no limit.
  @usableFromInline
  var count: Int?
  /// The longest time that an entry stays without a use; nil for no limit.
  @usableFromInline
  var age: Duration?
  /// The part of an exceeded limit that a trim goes down to, above 0 and up to 1.
  @usableFromInline
  var trimTarget: Double

  /// Traps if a limit is negative.
  func checkPreconditions() {
    precondition(cost ?? 0 >= 0, "costLimit must not be negative; nil sets no limit")
    precondition(count ?? 0 >= 0, "countLimit must not be negative; nil sets no limit")
    precondition(age ?? .zero >= .zero, "ageLimit must not be negative; nil sets no limit")
    precondition(
      trimTarget > 0 && trimTarget <= 1, "trimTarget is a part of the limit: above 0, up to 1")
  }

  /// Returns the share of one of several stripes in the limits; the shares add up to the whole.
  func share(ofStripe index: Int, of stripes: Int) -> MemoryLimits {
    func part(_ limit: Int) -> Int { limit / stripes + (index < limit % stripes ? 1 : 0) }
    var limits = self
    limits.cost = cost.map(part)
    limits.count = count.map(part)
    return limits
  }

  /// Returns the level that a trim goes down to when `limit` is exceeded.
  func target(of limit: Int) -> Int {
    trimTarget == 1 ? limit : Int((Double(limit) * trimTarget).rounded())
  }
}
