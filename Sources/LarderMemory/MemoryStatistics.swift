public import LarderBasics

/// The counters of a memory tier since it was made: a snapshot that does not change.
///
/// `peek`, `contains`, `keys` and `values` count nothing.
public struct MemoryStatistics: Sendable, Hashable {
  /// Reads that found a value.
  public let hits: Int
  /// Reads that found nothing.
  public let missesAbsent: Int
  /// Reads that found a value past its expiry or age, which counts as removed too.
  public let missesExpired: Int
  /// Values stored.
  public let stores: Int
  /// Values not stored, by reason: `.declined` if a newer one came first.
  public let rejections: [StoreOutcome.Reason: Int]
  /// Values that left, by cause; those that a store replaced too.
  public let removals: [RemovalCause: Int]

  init(_ counters: MemoryCounters) {
    (hits, stores) = (counters.hits, counters.stores)
    (missesAbsent, missesExpired) = (counters.missesAbsent, counters.missesExpired)
    rejections = [
      .expired: counters.rejectedExpired, .tooLarge: counters.rejectedTooLarge,
      .declined: counters.rejectedDeclined,
    ].filter { $0.value > 0 }
    removals = RemovalCause.allCases.reduce(into: [:]) { removals, cause in
      let count = counters.removed[cause.index]
      if count > 0 { removals[cause] = count }
    }
  }

  /// The share of reads that found a value, 0 to 1; nil before the first read.
  public var hitRate: Double? {
    let reads = hits + missesAbsent + missesExpired
    return reads > 0 ? Double(hits) / Double(reads) : nil
  }
}

/// The counters behind `MemoryStatistics`, as mutable fields.
@frozen
@usableFromInline
struct MemoryCounters: Sendable {
  @usableFromInline var hits = 0
  @usableFromInline var missesAbsent = 0
  @usableFromInline var missesExpired = 0
  @usableFromInline var stores = 0
  @usableFromInline var rejectedExpired = 0
  @usableFromInline var rejectedTooLarge = 0
  @usableFromInline var rejectedDeclined = 0
  /// The removals by the index of their cause.
  @usableFromInline var removed = [5 of Int](repeating: 0)

  /// Creates counters at zero.
  @inlinable
  init() {}
}

extension MemoryCounters {
  /// Counts removals of one cause.
  @inlinable
  mutating func countRemovals(_ number: Int, _ cause: RemovalCause) {
    removed[cause.index] &+= number
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
    for index in removed.indices { removed[index] += other.removed[index] }
  }
}
