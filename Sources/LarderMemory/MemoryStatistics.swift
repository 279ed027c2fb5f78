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
