import LarderBasics
package import LarderSystem

/// How far an eviction goes, and what it takes to get there.
///
/// The expired entries go first. Then the least recently used go until all that is set here holds;
/// of those used at the same time, the first by name. With nothing set only the expired go.
package struct TrimPlan: Sendable {
  /// The time of the decision.
  let now: Timestamp
  /// The entry that is never a victim, because its store set the eviction off.
  let protected: EntryName?
  /// The most bytes that the values may take afterwards.
  var maximumByteCount: UInt64?
  /// The most bytes that the files may take on disk afterwards.
  var maximumAllocatedByteCount: UInt64?
  /// The most entries afterwards.
  package var maximumCount: Int?
  /// The latest last access that must go.
  var outdatedAccess: Timestamp?
  /// The bytes on disk that must become free, those of the expired entries included.
  var byteCountToFree: UInt64 = 0
  /// What the victims count as that have not expired.
  var cause = RemovalCause.evicted

  /// A plan that takes the expired entries and nothing else.
  package init(now: Timestamp, protected: EntryName?) {
    self.now = now
    self.protected = protected
  }

  /// Sets an age that entries go at, as they go when their expiry comes: what was used exactly so
  /// long ago goes.
  ///
  /// A use ahead of the clock counts as made now, so that an age of nothing is that of all.
  mutating func setMaximumAge(_ age: Duration, at now: Timestamp) {
    outdatedAccess = age > .zero ? now.adding(.zero - age) : Timestamp(seconds: .max)
  }

  /// Sets the most bytes by a measure.
  mutating func setMaximum(_ byteCount: UInt64, _ measure: DiskCache.SizeMeasure) {
    switch measure {
    case .bytes: maximumByteCount = byteCount
    case .allocatedBytes: maximumAllocatedByteCount = byteCount
    }
  }
}

extension TrimPlan {
  /// What a limit is trimmed to, rounded down; a share below 0 counts as 0 and one above 1 as 1.
  ///
  /// - Returns: At most the limit, whatever rounding does to numbers beyond 2⁵³.
  static func target(_ limit: Int, _ share: Double) -> UInt64 {
    guard limit > 0, share > 0 else { return 0 }
    guard share < 1 else { return UInt64(limit) }
    return UInt64(min(Double(limit) * share, Double(limit)))
  }

  /// What a total is to be brought down to: nil as long as it is within the limit.
  static func target(for total: UInt64, limit: Int, trimTarget: Double) -> UInt64? {
    total > UInt64(max(0, limit)) ? target(limit, trimTarget) : nil
  }

  /// Whether the entry that would be next can stay, and with it all after it.
  func isFulfilled(by totals: IndexTotals, freed: UInt64, next: Timestamp) -> Bool {
    if let most = maximumByteCount, totals.byteCount > most { return false }
    if let most = maximumAllocatedByteCount, totals.allocatedByteCount > most { return false }
    if let most = maximumCount, totals.count > most { return false }
    if let outdated = outdatedAccess, next <= outdated { return false }
    return freed >= byteCountToFree
  }
}

extension EntryIndex {
  /// Takes out the expired entries, and then the others that a plan demands.
  ///
  /// - Complexity: O(k log n) for k victims.
  package mutating func take(_ plan: TrimPlan) -> (expired: [Victim], evicted: [Victim]) {
    var course = TrimCourse(plan)
    return course.takeSlice(of: &self, atMost: .max)
  }
}

/// How far a plan has been carried out.
///
/// A plan is carried out in slices, between which whoever waits for the index has it: choosing half
/// a million victims at once would make every reader wait for half a second.
struct TrimCourse: Sendable {
  let plan: TrimPlan
  /// The bytes on disk that the victims so far give back.
  private(set) var freed: UInt64 = 0
  private var hasTakenExpired = false
  /// Whether the plan is fulfilled.
  private(set) var isDone = false

  init(_ plan: TrimPlan) {
    self.plan = plan
  }

  /// Victims per slice.
  // 30 to 60 µs for who waits, and the lock itself still costs nothing beside the choosing.
  static let sliceCount = 64
}

extension TrimCourse {
  /// Takes the next victims out of an index: the expired ones first, then the least recently used
  /// as far as the plan demands by what is there now.
  ///
  /// - Complexity: O(k log n) for k victims.
  mutating func takeSlice(
    of index: inout EntryIndex, atMost count: Int = sliceCount
  ) -> (expired: [Victim], evicted: [Victim]) {
    let start = index.totals
    defer { freed = sum(index.totals, start) }
    var expired: [Victim] = []
    if !hasTakenExpired {
      expired = index.takeExpired(at: plan.now, except: plan.protected, atMost: count)
      if expired.count == count { return (expired, []) }
      hasTakenExpired = true
    }
    let room = count - expired.count
    let evicted = index.takeLeastRecent(except: plan.protected, atMost: room) { totals, next in
      !plan.isFulfilled(by: totals, freed: sum(totals, start), next: next)
    }
    isDone = evicted.count < room
    return (expired, evicted)
  }

  /// The bytes given back until now, or the most that 64 bits hold.
  private func sum(_ totals: IndexTotals, _ start: IndexTotals) -> UInt64 {
    let (sum, isHuge) = freed.addingReportingOverflow(
      totals.allocatedByteCount(missingSince: start))
    return isHuge ? .max : sum
  }
}

/// An entry chosen to go, with what proves that its file is still the one that was chosen.
package struct Victim: Sendable, Hashable {
  let name: EntryName
  /// Which file was chosen. With the change time, which a use or a store by anyone moves.
  let inode: UInt64
  var changeTime: Timestamp
  /// The sizes it was counted with, for the report and for making it an entry again.
  let byteCount: UInt64
  let allocatedByteCount: UInt64
  let lastAccess: Timestamp
  let expiry: Timestamp
  /// What it is counted as.
  var cause = RemovalCause.evicted
}

extension Victim {
  /// The same, gone for another cause.
  func counted(as cause: RemovalCause) -> Victim {
    var victim = self
    victim.cause = cause
    return victim
  }

  /// An entry that is to go.
  init(_ entry: IndexedEntry) {
    self.init(
      name: entry.name, inode: entry.inode, changeTime: entry.changeTime,
      byteCount: entry.byteCount, allocatedByteCount: entry.allocatedByteCount,
      lastAccess: entry.lastAccess, expiry: entry.expiry)
  }
}
