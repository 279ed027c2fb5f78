import LarderBasics
package import LarderSystem

/// A goal of a removal of many entries: the entries that are left afterwards.
package enum TrimGoal: Sendable, Hashable {
  /// The entries that have not expired.
  case living
  /// At most this many bytes.
  case size(Int)
  /// At most this many entries.
  case count(Int)
  /// The entries whose last use is less than an age ago.
  case age(Duration)
  /// No entries.
  case nothing
}

/// The goals of an eviction, by which its victims are chosen.
///
/// The expired entries go first. Then the least recently used go until everything set here holds.
/// Entries used at the same time go in the order of their names. With nothing set, only the expired
/// go.
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
  /// The latest last access with which an entry must go.
  var outdatedAccess: Timestamp?
  /// The bytes on disk that must become free, those of the expired entries included.
  var byteCountToFree: UInt64 = 0
  /// The cause that victims are counted with if they have not expired.
  var cause = RemovalCause.evicted

  /// Creates a plan that takes the expired entries and nothing else.
  package init(now: Timestamp, protected: EntryName?) {
    self.now = now
    self.protected = protected
  }

  /// Sets the time without a use after which entries go. An entry that was used exactly so long ago
  /// goes, as one goes at exactly its expiry.
  ///
  /// A use ahead of the clock counts as made now, so that an age of zero is that of all entries.
  mutating func setMaximumAge(_ age: Duration, at now: Timestamp) {
    outdatedAccess = age > .zero ? now.adding(.zero - age) : Timestamp(seconds: .max)
  }

  /// Sets the most bytes that may be left, by a measure.
  mutating func setMaximum(_ byteCount: UInt64, _ measure: DiskCache.SizeMeasure) {
    switch measure {
    case .bytes: maximumByteCount = byteCount
    case .allocatedBytes: maximumAllocatedByteCount = byteCount
    }
  }
}

extension TrimPlan {
  /// Returns the total that a limit is trimmed to: a share of it, rounded down. A share below 0
  /// counts as 0, and one above 1 as 1.
  ///
  /// - Returns: At most the limit, although numbers beyond 2⁵³ are rounded.
  static func target(_ limit: Int, _ share: Double) -> UInt64 {
    guard limit > 0, share > 0 else { return 0 }
    guard share < 1 else { return UInt64(limit) }
    return UInt64(min(Double(limit) * share, Double(limit)))
  }

  /// Whether the plan is fulfilled, so that the next entry and all after it can stay.
  func isFulfilled(by totals: IndexTotals, freed: UInt64, next: Timestamp) -> Bool {
    if let most = maximumByteCount, totals.byteCount > most { return false }
    if let most = maximumAllocatedByteCount, totals.allocatedByteCount > most { return false }
    if let most = maximumCount, totals.count > most { return false }
    if let outdated = outdatedAccess, next <= outdated { return false }
    return freed >= byteCountToFree
  }
}

// The plans for each occasion. No other file sets the goals of a plan.
extension TrimPlan {
  /// Creates the plan of a removal that a caller asks for.
  package init(for goal: TrimGoal, at now: Timestamp, _ configuration: DiskCache.Configuration) {
    self.init(now: now, protected: nil)
    switch goal {
    case .living: self = .sweep(at: now, configuration)
    case .size(let byteCount): setMaximum(UInt64(byteCount), configuration.sizeMeasure)
    case .count(let count): maximumCount = count
    case .age(let age): setMaximumAge(age, at: now)
    case .nothing: maximumCount = 0
    }
  }

  /// Returns the plan that the limits ask for; nil if all are kept.
  ///
  /// - Parameter missing: The bytes that the file system lacks for the limit on free space.
  static func limits(
    of totals: IndexTotals, missing: UInt64, protecting name: EntryName?, at now: Timestamp,
    _ configuration: DiskCache.Configuration
  ) -> TrimPlan? {
    var plan = TrimPlan(now: now, protected: name)
    var isNeeded = false
    if let limit = configuration.sizeLimit,
      configuration.sizeMeasure.of(totals) > UInt64(limit)
    {
      plan.setMaximum(target(limit, configuration.trimTarget), configuration.sizeMeasure)
      isNeeded = true
    }
    if let limit = configuration.countLimit, totals.count > limit {
      plan.maximumCount = Int(target(limit, configuration.trimTarget))
      isNeeded = true
    }
    if missing > 0 {
      plan.byteCountToFree = missing
      isNeeded = true
    }
    return isNeeded ? plan : nil
  }

  /// Returns the plan of a store that found the disk full: down to the trim target, and at least
  /// room for its bytes.
  static func room(
    for byteCount: Int, in totals: IndexTotals, at now: Timestamp,
    _ configuration: DiskCache.Configuration
  ) -> TrimPlan {
    var plan = TrimPlan(now: now, protected: nil)
    plan.maximumAllocatedByteCount = target(
      Int(min(totals.allocatedByteCount, UInt64(Int.max))), configuration.trimTarget)
    plan.byteCountToFree = UInt64(byteCount)
    return plan
  }

  /// Returns the plan of a sweep. Its victims count as expired, including those that go for the age
  /// limit.
  ///
  /// - Parameter grace: The time for which entries are spared after their expiry.
  static func sweep(
    at now: Timestamp, grace: Duration = .zero, _ configuration: DiskCache.Configuration
  ) -> TrimPlan {
    var plan = TrimPlan(now: now.adding(.zero - grace), protected: nil)
    if let age = configuration.ageLimit { plan.setMaximumAge(age, at: now) }
    plan.cause = .expired
    return plan
  }
}

extension EntryIndex {
  /// Takes out the expired entries, and then those that a plan demands.
  ///
  /// - Complexity: O(k log n) for k victims.
  package mutating func take(_ plan: TrimPlan) -> (expired: [Victim], evicted: [Victim]) {
    var course = TrimCourse(plan)
    return course.takeSlice(of: &self, atMost: .max)
  }
}

/// The progress of a plan that is being carried out.
///
/// A plan is carried out in slices, and other threads get at the index between two of them.
/// Choosing half a million victims at once would make every reader wait for half a second.
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

  /// The number of victims in a slice.
  // A waiting thread waits for 30 to 60 µs, and the lock still costs nothing beside the choosing.
  static let sliceCount = 64
}

extension TrimCourse {
  /// Takes the next victims out of an index: the expired ones first, then the least recently used
  /// as far as the plan demands, judged by the present totals.
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

  /// Returns the bytes given back until now, or the most that 64 bits hold.
  private func sum(_ totals: IndexTotals, _ start: IndexTotals) -> UInt64 {
    let (sum, isHuge) = freed.addingReportingOverflow(
      totals.allocatedByteCount(missingSince: start))
    return isHuge ? .max : sum
  }
}

/// An entry chosen to go, with the inode and change time that identify its file.
package struct Victim: Sendable, Hashable {
  let name: EntryName
  /// The inode of the file. With the change time, which every use and store moves, it shows whether
  /// the file is still the one that was chosen.
  let inode: UInt64
  var changeTime: Timestamp
  /// The sizes that it was counted with, for the report and for making it an entry again.
  let byteCount: UInt64
  let allocatedByteCount: UInt64
  let lastAccess: Timestamp
  let expiry: Timestamp
  /// The cause that it is counted with.
  var cause = RemovalCause.evicted
}

extension Victim {
  /// Returns the same victim with another cause.
  func counted(as cause: RemovalCause) -> Victim {
    var victim = self
    victim.cause = cause
    return victim
  }

  /// Creates a victim from an entry that is to go.
  init(_ entry: IndexedEntry) {
    self.init(
      name: entry.name, inode: entry.inode, changeTime: entry.changeTime,
      byteCount: entry.byteCount, allocatedByteCount: entry.allocatedByteCount,
      lastAccess: entry.lastAccess, expiry: entry.expiry)
  }
}
