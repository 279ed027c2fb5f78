/// What a memory tier has counted since it was made: a snapshot that does not change.
///
/// | event | counter |
/// |---|---|
/// | `value` finds a value | `hits` |
/// | `value` finds nothing | `missesAbsent` |
/// | `value` finds a value that has expired | `missesExpired`, `removedExpired` |
/// | `store` keeps a value | `stores`, and `removedReplaced` if there was one |
/// | `store` keeps nothing | `rejectedExpired`, `rejectedTooLarge` or `rejectedDeclined` |
/// | a value leaves | one of `removed…`, by its `RemovalCause` |
///
/// `peek`, `contains`, `keys` and `values` count nothing.
public struct MemoryStatistics: Sendable, Hashable {
  /// Reads that found a value.
  public var hits = 0
  /// Reads that found nothing.
  public var missesAbsent = 0
  /// Reads that found a value past its expiry or age.
  public var missesExpired = 0
  /// Values stored.
  public var stores = 0
  /// Values not stored since they had expired.
  public var rejectedExpired = 0
  /// Values not stored since they cost more than the limit.
  public var rejectedTooLarge = 0
  /// Values not stored since a newer one came first.
  public var rejectedDeclined = 0
  /// Values removed by the caller.
  public var removedExplicit = 0
  /// Values that a store replaced.
  public var removedReplaced = 0
  /// Values removed past their expiry or age.
  public var removedExpired = 0
  /// Values evicted to keep to a limit.
  public var removedEvicted = 0
  /// Values removed since they were damaged.
  public var removedCorrupt = 0

  /// All counters at zero.
  public init() {}
}

extension MemoryStatistics {
  /// All reads: hits and misses of both kinds.
  public var reads: Int { hits + missesAbsent + missesExpired }

  /// All removals, of every cause.
  public var removals: Int {
    removedExplicit + removedReplaced + removedExpired + removedEvicted + removedCorrupt
  }

  /// The number of removals of one cause.
  public func removals(_ cause: RemovalCause) -> Int {
    switch cause {
    case .explicit: removedExplicit
    case .replaced: removedReplaced
    case .expired: removedExpired
    case .evicted: removedEvicted
    case .corrupt: removedCorrupt
    }
  }

  /// The sums of two snapshots.
  public static func + (a: MemoryStatistics, b: MemoryStatistics) -> MemoryStatistics {
    var sum = a
    sum.hits += b.hits
    sum.missesAbsent += b.missesAbsent
    sum.missesExpired += b.missesExpired
    sum.stores += b.stores
    sum.rejectedExpired += b.rejectedExpired
    sum.rejectedTooLarge += b.rejectedTooLarge
    sum.rejectedDeclined += b.rejectedDeclined
    for cause in RemovalCause.allCases { sum.countRemovals(b.removals(cause), cause) }
    return sum
  }

  @inlinable
  mutating func countRemovals(_ number: Int, _ cause: RemovalCause) {
    switch cause {
    case .explicit: removedExplicit &+= number
    case .replaced: removedReplaced &+= number
    case .expired: removedExpired &+= number
    case .evicted: removedEvicted &+= number
    case .corrupt: removedCorrupt &+= number
    }
  }

  @inlinable
  mutating func countRejection(_ reason: StoreOutcome.Reason) {
    switch reason {
    case .expired: rejectedExpired &+= 1
    case .tooLarge: rejectedTooLarge &+= 1
    case .declined, .alreadyPresent: rejectedDeclined &+= 1
    }
  }
}
