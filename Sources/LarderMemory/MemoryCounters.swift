public import LarderBasics

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
