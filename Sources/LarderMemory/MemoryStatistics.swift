public import LarderBasics

/// The counters of a memory tier since it was made: a snapshot that does not change.
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
  let counters: MemoryCounters

  init(_ counters: MemoryCounters) {
    self.counters = counters
  }

  /// Reads that found a value.
  public var hits: Int { counters.hits }
  /// Reads that found nothing.
  public var missesAbsent: Int { counters.missesAbsent }
  /// Reads that found a value past its expiry or age.
  public var missesExpired: Int { counters.missesExpired }
  /// Values stored.
  public var stores: Int { counters.stores }
  /// Values not stored because they had expired.
  public var rejectedExpired: Int { counters.rejectedExpired }
  /// Values not stored because they cost more than the limit.
  public var rejectedTooLarge: Int { counters.rejectedTooLarge }
  /// Values not stored because a newer one came first.
  public var rejectedDeclined: Int { counters.rejectedDeclined }
  /// Values removed by the caller.
  public var removedExplicit: Int { counters.removedExplicit }
  /// Values that a store replaced.
  public var removedReplaced: Int { counters.removedReplaced }
  /// Values removed past their expiry or age.
  public var removedExpired: Int { counters.removedExpired }
  /// Values evicted to keep to a limit.
  public var removedEvicted: Int { counters.removedEvicted }
  /// Values removed because they were damaged.
  public var removedCorrupt: Int { counters.removedCorrupt }
}

extension MemoryStatistics {
  /// All reads: hits and misses of both kinds.
  public var reads: Int { hits + missesAbsent + missesExpired }

  /// The share of reads that found a value, 0 to 1; nil before the first read.
  public var hitRate: Double? { reads > 0 ? Double(hits) / Double(reads) : nil }

  /// All removals, of every cause.
  public var removals: Int {
    removedExplicit + removedReplaced + removedExpired + removedEvicted + removedCorrupt
  }

  /// Returns the number of removals of one cause.
  public func removals(_ cause: RemovalCause) -> Int {
    switch cause {
    case .explicit: removedExplicit
    case .replaced: removedReplaced
    case .expired: removedExpired
    case .evicted: removedEvicted
    case .corrupt: removedCorrupt
    }
  }
}

extension MemoryStatistics: CustomReflectable {
  /// The counters by name, for `print`.
  public var customMirror: Mirror {
    Mirror(self, children: Mirror(reflecting: counters).children, displayStyle: .struct)
  }
}

/// The counters behind `MemoryStatistics`, as mutable fields.
@frozen
@usableFromInline
struct MemoryCounters: Sendable, Hashable {
  @usableFromInline
  var hits = 0
  @usableFromInline
  var missesAbsent = 0
  @usableFromInline
  var missesExpired = 0
  @usableFromInline
  var stores = 0
  @usableFromInline
  var rejectedExpired = 0
  @usableFromInline
  var rejectedTooLarge = 0
  @usableFromInline
  var rejectedDeclined = 0
  @usableFromInline
  var removedExplicit = 0
  @usableFromInline
  var removedReplaced = 0
  @usableFromInline
  var removedExpired = 0
  @usableFromInline
  var removedEvicted = 0
  @usableFromInline
  var removedCorrupt = 0

  /// Creates counters at zero.
  @inlinable
  init() {}
}

extension MemoryCounters {
  /// Counts removals of one cause.
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

  /// Counts a store that kept nothing.
  @inlinable
  mutating func countRejection(_ reason: StoreOutcome.Reason) {
    switch reason {
    case .expired: rejectedExpired &+= 1
    case .tooLarge: rejectedTooLarge &+= 1
    case .declined, .alreadyPresent: rejectedDeclined &+= 1
    }
  }

  /// Adds the counters of another stripe.
  mutating func add(_ other: MemoryCounters) {
    hits += other.hits
    missesAbsent += other.missesAbsent
    missesExpired += other.missesExpired
    stores += other.stores
    rejectedExpired += other.rejectedExpired
    rejectedTooLarge += other.rejectedTooLarge
    rejectedDeclined += other.rejectedDeclined
    removedExplicit += other.removedExplicit
    removedReplaced += other.removedReplaced
    removedExpired += other.removedExpired
    removedEvicted += other.removedEvicted
    removedCorrupt += other.removedCorrupt
  }
}
