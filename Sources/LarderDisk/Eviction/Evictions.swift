import LarderBasics
package import LarderSystem

/// What the threads of this process that evict share: a part of `EngineState`.
struct Evictions: Sendable {
  /// The purge that is going on. It ends when its goals are reached or another directory is held.
  var purge: Purge?
  /// The names of the entries that are being evicted.
  var names: [EntryName] = []
  /// The damaged files that are to be removed.
  var damaged: Set<EntryName> = []
  /// The plans that wait for the scan, to remove and count the expired entries themselves.
  var waitingTrimCount = 0
  private var lastFreeSpaceCheck: MonotonicTime?
  /// The bytes that may be stored before this process looks for stores of its neighbours.
  private var allowance: UInt64 = 0

  /// Whether the caller has to ask a thread to carry the purge on; it counts as asked from now on.
  mutating func claimPurge() -> Bool {
    defer { purge?.isCarriedOn = true }
    return hasUnclaimedPurge
  }

  /// Whether a purge has begun that no thread carries on.
  var hasUnclaimedPurge: Bool { purge.map { !$0.isCarriedOn } ?? false }

  /// Ends the eviction of a name, whichever way.
  mutating func end(_ name: EntryName, freed: UInt64) {
    purge?.freed.addSaturating(freed)
    if let index = names.firstIndex(of: name) { names.remove(at: index) }
  }

  /// Begins a look at the free space; returns false if the last one was less than a pause ago.
  mutating func beginFreeSpaceCheck(at now: MonotonicTime, pause: Duration) -> Bool {
    if let last = lastFreeSpaceCheck, now.duration(since: last) < pause { return false }
    lastFreeSpaceCheck = now
    return true
  }

  /// The share of the room below 1.1 × the limit that a process stores between two looks: 32
  /// processes that look at once take half of the room before the next look of each.
  static let allowanceShare: UInt64 = 64

  /// Whether a store has to look for stores of other processes first.
  var mustLook: Bool { allowance == 0 }

  /// Counts a value that was stored.
  mutating func spend(_ byteCount: UInt64) { allowance -= min(allowance, byteCount) }

  /// Counts a look.
  ///
  /// - Parameter room: The bytes that all processes may still store.
  mutating func allow(room: UInt64) { allowance = room / Self.allowanceShare }
}

/// An eviction that passing a limit has begun and that goes on down to the targets.
struct Purge: Sendable {
  /// Whether the size limit was passed.
  var isForSize = false
  /// Whether the count limit was passed.
  var isForCount = false
  /// The bytes that the file system lacked for the limit on free space; 0 once enough are free.
  var missing: UInt64 = 0
  /// The bytes that were freed since then, here or by another process.
  var freed: UInt64 = 0
  /// The entry that began it last, which stays.
  var spared: EntryName?
  /// Whether a thread carries it on, or has been asked to.
  var isCarriedOn = false
}

/// The evictions of one thread by a plan: it chooses each entry, and adds up what was removed.
struct EvictionRun: Sendable {
  var plan: TrimPlan
  /// Whether the goals are those that the purge which is going on has at each choice. If there is
  /// none any more, the eviction is over.
  let isPurge: Bool
  /// Whether entries go by their value, if they are in classes of it.
  var isByValue = true
  /// Whether it helps another run, until the next use of an entry, which must not wait for two.
  var isHelp = false
  /// The bytes on disk that were freed, here or by another process.
  var freed: UInt64 = 0
  private(set) var result = BulkRemoval()
  /// Whether the plan asks for more, but threads hold the names of all entries that could go.
  private(set) var isBlocked = false
  /// Whether the directory has refused a removal, as it would all others.
  private(set) var isRefused = false
  /// The latest names whose files were found changed. From the second time on they are passed over.
  private var changed: [EntryName] = []
  private var changedInRow = 0
  private var goneInRow = 0

  /// The number of names that are passed over at most, because each costs every step after it.
  private static let mostChanged = 64

  init(_ plan: TrimPlan, isPurge: Bool = false) { (self.plan, self.isPurge) = (plan, isPurge) }

  /// Takes the entry that goes next out of an index; nil if the plan is fulfilled, or if all
  /// entries that could go are held.
  ///
  /// - Parameter held: The names that threads are changing. They are passed over.
  /// - Complexity: O(log n).
  mutating func takeNext(from index: inout EntryIndex, held: [EntryName] = []) -> Victim? {
    isBlocked = false
    // The thread of a store leaves what another process has used to the purge.
    let isOfStore = !isPurge && plan.protected != nil
    let most = isOfStore ? Self.mostChanged : max(Self.mostChanged, index.totals.count)
    guard changedInRow < 2 * most else { return nil }
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
    let isInClasses = index.measure != nil
    let countsSize = isByValue && plan.mustFree(totals, freed)
    let entry = index.takeFirst(where: mayGo, if: { !isFulfilled($0) }) { [plan, isByValue] in
      guard isInClasses else { return 0 }
      let use = $1.timestamp
      // What is too old goes in any case, so that the rest may not have to.
      if isByValue, plan.outdatedAccess != nil, plan.isOutdated(use) { return .infinity }
      let now = plan.before.flatMap { $0.uses.contains(use) ? $0.now : nil } ?? plan.now
      return UseOrder.priority(isByValue ? $0 : 0, $1, at: now, countsSize: countsSize)
    }
    return entry.map { Victim(entry: $0, cause: plan.cause) }
  }

  /// Adds the outcome for a victim.
  mutating func add(_ outcome: RemovalOutcome, of victim: Victim) {
    result.add(BulkRemoval(outcome, of: victim.entry.byteCount))
    if outcome.hasFreed { freed.addSaturating(victim.entry.allocatedByteCount) }
    if outcome.isRefusal { isRefused = true }
    if case .changed(nil) = outcome { goneInRow += 1 } else { goneInRow = 0 }
    guard case .changed(_?) = outcome else {
      changedInRow = 0
      return
    }
    changedInRow += 1
    if changed.count == Self.mostChanged { changed.removeFirst() }
    changed.append(victim.entry.name)
  }

  /// Whether so many files in a row were gone that their removal was missed. Then counts anew.
  mutating func takeMissing() -> Bool {
    guard goneInRow >= 64 else { return false }
    goneInRow = 0
    return true
  }
}

/// An entry that was chosen to go and has left the index. The thread that chose it holds its name.
package struct Victim: Sendable, Hashable {
  package let entry: IndexedEntry
  /// The cause that its removal is counted with.
  let cause: RemovalCause
}

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
/// The expired entries go first. Then the least recently used, or valuable, go until everything set
/// here holds.
/// Entries used at the same time go in the order of their names. With nothing set, only the expired
/// go; without `takesAllExpired`, as after a store, they too go only as far as needed.
/// `EvictionRun` chooses one entry after the other by such a plan.
package struct TrimPlan: Sendable {
  /// The time of the decision.
  var now: Timestamp
  /// The entry that is never a victim, because its store set the eviction off.
  var protected: EntryName?
  /// Whether the expired entries go although the rest of the plan is fulfilled.
  var takesAllExpired = true
  /// The most bytes that may be left, by a measure.
  var maximumSize: (byteCount: UInt64, measure: DiskCache.SizeMeasure)?
  /// The most entries afterwards.
  package var maximumCount: Int?
  /// The latest last access with which an entry must go.
  var outdatedAccess: Timestamp?
  /// Later last accesses with which it must go too, because the clock was set back since.
  var outdatedAhead: ClosedRange<Timestamp>?
  /// The uses before the clock was set back, and the time of the decision by that clock.
  var before: (uses: ClosedRange<Timestamp>, now: Timestamp)?
  /// The last use before a caller's trim began. An entry that is used or stored later stays.
  var lastUse: Timestamp?
  /// The bytes on disk that must become free, those of the expired entries included.
  var byteCountToFree: UInt64 = 0
  /// The cause that victims are counted with if they have not expired.
  var cause = RemovalCause.evicted

  /// Whether it keeps a size or count limit, and is no caller's and not for free space.
  var isForLimit: Bool {
    lastUse == nil && byteCountToFree == 0 && (maximumSize != nil || maximumCount != nil)
  }

  /// Sets the time without a use after which entries go. An entry that was used exactly so long ago
  /// goes, as one goes at exactly its expiry.
  ///
  /// A use ahead of the clock counts as made now, so that an age of zero is that of all entries.
  mutating func setMaximumAge(_ age: Duration, at now: Timestamp) {
    outdatedAccess = age > .zero ? now.adding(.zero - age) : Timestamp(seconds: .max)
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
    if let most = maximumCount, totals.count > most { return false }
    return !isOutdated(next) && !mustFree(totals, freed)
  }

  /// Whether an entry has to go because of its last access.
  func isOutdated(_ lastAccess: Timestamp) -> Bool {
    if let lastUse, lastAccess > lastUse { return false }
    if let outdatedAccess, lastAccess <= outdatedAccess { return true }
    return outdatedAhead?.contains(lastAccess) ?? false
  }

  /// Whether bytes have to go, and not only a number of entries.
  func mustFree(_ totals: IndexTotals, _ freed: UInt64) -> Bool {
    if let (most, measure) = maximumSize, measure.of(totals) > most { return true }
    return freed < byteCountToFree
  }
}

// The plans for each occasion.
extension TrimPlan {
  /// Creates the plan of a removal that a caller asks for.
  package init(for goal: TrimGoal, at now: Timestamp, _ configuration: DiskCache.Configuration) {
    self.init(now: now)
    // The sweep at a scan's end leaves the over-aged entries to a trim as well.
    if let age = configuration.ageLimit { setMaximumAge(age, at: now) }
    switch goal {
    case .living: self = .sweep(at: now, configuration)
    case .size(let byteCount): maximumSize = (UInt64(byteCount), configuration.sizeMeasure)
    case .count(let count): maximumCount = count
    case .age(let age): setMaximumAge(min(age, configuration.ageLimit ?? age), at: now)
    case .nothing: maximumCount = 0
    }
  }

  /// Returns the plan of a store that has passed a limit: down to the limits.
  static func limits(
    sparing name: EntryName, at now: Timestamp, _ configuration: DiskCache.Configuration
  ) -> TrimPlan {
    var plan = TrimPlan(now: now, protected: name)
    plan.takesAllExpired = false
    plan.maximumSize = configuration.sizeLimit.map { (UInt64($0), configuration.sizeMeasure) }
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
      maximumSize = (Self.target(limit, share, stuck: measure.of(stuck)), measure)
    }
    if purge.isForCount, let limit = configuration.countLimit {
      maximumCount = Int(Self.target(limit, share, stuck: UInt64(stuck.count)))
    }
  }

  /// Returns the plan of a sweep. Its victims count as expired, also those past the age limit.
  ///
  /// - Parameter grace: The time for which entries are spared after their expiry.
  static func sweep(
    at now: Timestamp, grace: Duration = .zero, _ configuration: DiskCache.Configuration
  ) -> TrimPlan {
    var plan = TrimPlan(now: now.adding(.zero - grace))
    if let age = configuration.ageLimit { plan.setMaximumAge(age, at: now) }
    plan.cause = .expired
    return plan
  }
}

extension DiskCache.Configuration {
  /// Whether some totals exceed the size limit.
  func isSizePassed(by totals: IndexTotals) -> Bool {
    sizeLimit.map { sizeMeasure.of(totals) > UInt64($0) } ?? false
  }

  /// Whether some totals exceed the count limit.
  func isCountPassed(by totals: IndexTotals) -> Bool { totals.count > countLimit ?? .max }
}

extension DiskCache.SizeMeasure {
  /// Returns the sum that this measure counts of some totals.
  func of(_ totals: IndexTotals) -> UInt64 {
    self == .bytes ? totals.byteCount : totals.allocatedByteCount
  }
}
