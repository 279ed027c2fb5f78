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

/// The goals of an eviction, which decide what is evicted.
///
/// The expired entries go first. Then the least recently used go until everything set here holds.
/// Entries used at the same time go in the order of their names. With nothing set, only the expired
/// go. `TrimProgress` chooses one entry after the other by such a plan.
package struct TrimPlan: Sendable {
  /// The time of the decision.
  let now: Timestamp
  /// The entry that is never a victim, because its store set the eviction off.
  var protected: EntryName?
  /// Whether the expired entries go although the rest of the plan is fulfilled.
  var takesAllExpired = true
  /// The most bytes that the values may take afterwards.
  var maximumByteCount: UInt64?
  /// The most bytes that the files may take on disk afterwards.
  var maximumAllocatedByteCount: UInt64?
  /// The most entries afterwards.
  package var maximumCount: Int?
  /// The latest last access with which an entry must go.
  var outdatedAccess: Timestamp?
  /// The last use before a caller's trim began. An entry that is used or stored later stays.
  var lastUse: Timestamp?
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

  /// Returns the total that a limit is trimmed to: a share of it, rounded down. A share below 0
  /// counts as 0, and one above 1 as 1.
  ///
  /// - Parameter stuck: The part of the total that cannot be removed, which stays beside the share
  ///   of what is left.
  /// - Returns: At most the limit or `stuck`, although numbers beyond 2⁵³ are rounded.
  static func target(_ limit: Int, _ share: Double, stuck: UInt64 = 0) -> UInt64 {
    let rest = UInt64(max(0, limit)) - min(stuck, UInt64(max(0, limit)))
    guard rest > 0, share > 0 else { return stuck }
    return stuck + (share < 1 ? UInt64(min(Double(rest) * share, Double(rest))) : rest)
  }

  /// Whether the plan is fulfilled, so that the next entry and all after it can stay.
  func isFulfilled(by totals: IndexTotals, freed: UInt64, next: Timestamp) -> Bool {
    if let lastUse, next > lastUse { return true }
    if let most = maximumByteCount, totals.byteCount > most { return false }
    if let most = maximumAllocatedByteCount, totals.allocatedByteCount > most { return false }
    if let most = maximumCount, totals.count > most { return false }
    if let outdated = outdatedAccess, next <= outdated { return false }
    return freed >= byteCountToFree
  }
}

// The plans for each occasion.
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

  /// Returns the plan of a store that has passed a limit: down to the limits.
  static func limits(
    sparing name: EntryName, at now: Timestamp, _ configuration: DiskCache.Configuration
  ) -> TrimPlan {
    var plan = TrimPlan(now: now, protected: name)
    plan.takesAllExpired = false
    if let limit = configuration.sizeLimit {
      plan.setMaximum(UInt64(limit), configuration.sizeMeasure)
    }
    plan.maximumCount = configuration.countLimit
    return plan
  }

  /// Sets the goals of a purge: down to the targets of the limits that were passed.
  mutating func setGoals(
    of purge: Purge, stuck: IndexTotals, _ configuration: DiskCache.Configuration
  ) {
    self = TrimPlan(now: now, protected: purge.spared)
    byteCountToFree = purge.missing
    let (measure, share) = (configuration.sizeMeasure, configuration.trimTarget)
    if purge.isForSize, let limit = configuration.sizeLimit {
      setMaximum(Self.target(limit, share, stuck: measure.of(stuck)), measure)
    }
    if purge.isForCount, let limit = configuration.countLimit {
      maximumCount = Int(Self.target(limit, share, stuck: UInt64(stuck.count)))
    }
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

/// An entry that was chosen to go and has left the index. The thread that chose it holds its name.
package struct Victim: Sendable, Hashable {
  package let entry: IndexedEntry
  /// The cause that its removal is counted with.
  let cause: RemovalCause
}

/// The progress of one thread that evicts entry by entry, by a plan.
struct TrimProgress: Sendable {
  var plan: TrimPlan
  /// Whether the goals are those that the purge which is going on has at each choice. If there is
  /// none any more, the eviction is over.
  let isPurge: Bool
  /// The bytes on disk that were freed, here or by another process.
  var freed: UInt64 = 0
  private(set) var result = BulkRemoval()
  /// Whether the plan asks for more, but threads hold the names of all entries that could go.
  private(set) var isBlocked = false
  /// The latest names whose files were found changed. From the second time on they are passed over.
  private var changed: [EntryName] = []
  private var changedInRow = 0
  private var goneInRow = 0

  /// The number of names that are passed over at most, because each costs every step after it.
  private static let mostChanged = 64

  init(_ plan: TrimPlan) { (self.plan, isPurge) = (plan, false) }

  /// Begins to take part in the purge.
  init(purgingAt now: Timestamp) {
    (plan, isPurge) = (TrimPlan(now: now, protected: nil), true)
  }

  /// Takes the entry that goes next out of an index; nil if the plan is fulfilled, or if all
  /// entries that could go are held.
  ///
  /// - Parameter held: The names that threads are changing. They are passed over.
  /// - Complexity: O(log n).
  mutating func takeNext(from index: inout EntryIndex, held: [EntryName] = []) -> Victim? {
    isBlocked = false
    guard changedInRow < 2 * Self.mostChanged else { return nil }
    var isBlocked = false
    let (plan, freed, changed) = (plan, freed, changed)
    func mayGo(_ name: EntryName) -> Bool {
      if name == plan.protected || changed.count(where: { $0 == name }) > 1 { return false }
      if held.contains(name) { isBlocked = true }
      return !held.contains(name)
    }
    let totals = index.totals
    func isFulfilled(_ next: Timestamp) -> Bool {
      plan.isFulfilled(by: totals, freed: freed, next: next)
    }
    if plan.takesAllExpired || !isFulfilled(Timestamp(seconds: .max)),
      let entry = index.takeExpired(at: plan.now, where: mayGo)
    {
      return Victim(entry: entry, cause: .expired)
    }
    if let entry = index.takeLeastRecent(where: mayGo, if: { !isFulfilled($0) }) {
      return Victim(entry: entry, cause: plan.cause)
    }
    self.isBlocked = isBlocked
    return nil
  }

  /// Adds the outcome for a victim.
  mutating func add(_ outcome: RemovalOutcome, of victim: Victim) {
    result.add(BulkRemoval(outcome, of: victim.entry.byteCount))
    if outcome.hasFreed { freed.addSaturating(victim.entry.allocatedByteCount) }
    if case .changed(nil) = outcome { goneInRow += 1 } else { goneInRow = 0 }
    guard case .changed(_?) = outcome else {
      changedInRow = 0
      return
    }
    changedInRow += 1
    if changed.count == Self.mostChanged { changed.removeFirst() }
    changed.append(victim.entry.name)
  }

  /// Whether so many files in a row were gone that events or scans must have missed their removal.
  /// Counts anew from then on.
  mutating func takeMissing() -> Bool {
    guard goneInRow >= 64 else { return false }
    goneInRow = 0
    return true
  }
}

extension EntryIndex {
  /// Takes out all entries that a plan demands.
  ///
  /// - Complexity: O(k log n) for k victims.
  package mutating func take(_ plan: TrimPlan) -> [Victim] {
    var (progress, victims) = (TrimProgress(plan), [Victim]())
    while let victim = progress.takeNext(from: &self) {
      progress.add(.removed, of: victim)
      victims.append(victim)
    }
    return victims
  }
}
