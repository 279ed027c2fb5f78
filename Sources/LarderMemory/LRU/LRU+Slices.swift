import LarderBasics

/// Removals of many entries in slices, between which other threads get the lock.
///
/// A slice takes at most a tenth of a millisecond. What an operation promises holds when its last
/// slice ends. It ends although other threads store meanwhile, because a slice removes 256 entries
/// and a store adds one.
extension LRU {
  /// The most entries that a slice removes, and the most slots that a slice of a sweep looks at.
  static var sliceCount: Int { 256 }

  /// Removes the next least recently used entries as long as a condition holds.
  ///
  /// - Returns: Whether another slice has to follow.
  mutating func evictSlice(
    _ cause: RemovalCause, at now: PackedTime, into removals: inout Removals<Key, Value>,
    while isNeeded: (inout LRU) -> Bool
  ) -> Bool {
    var room = Self.sliceCount
    while slab.leastRecent != .none, isNeeded(&self) {
      if room == 0 { return true }
      let victim = slab.leastRecent
      remove(victim, isExpired(victim, at: now) ? .expired : cause, into: &removals)
      room -= 1
    }
    return false
  }
}

// Limits.
extension LRU {
  /// The targets of the limits that were found exceeded, for the slices that follow.
  struct Goals {
    fileprivate var cost = Int.max
    fileprivate var count = Int.max
  }

  /// Removes the next entries that do not fit new limits, and sets the limits when the others fit.
  ///
  /// The old limits stay until then. Otherwise the next store would remove the rest at once.
  ///
  /// - Returns: Whether another slice has to follow.
  mutating func lowerSlice(
    to limits: MemoryLimits, _ goals: inout Goals, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) -> Bool {
    var next = settings
    next.set(limits)
    if slab.totalCost > next.costLimit { goals.cost = next.costTarget }
    let cost = goals.cost
    if evictSlice(.evicted, at: now, into: &removals, while: { $0.slab.totalCost > cost }) {
      return true
    }
    if slab.count > next.countLimit { goals.count = next.countTarget }
    let count = goals.count
    if evictSlice(.evicted, at: now, into: &removals, while: { $0.slab.count > count }) {
      return true
    }
    setLimits(limits, at: now)
    return false
  }
}

// Ages.
extension LRU {
  /// Removes the next entries that were last used `age` ago or earlier.
  ///
  /// - Returns: Whether another slice has to follow.
  mutating func evictSlice(
    toAge age: PackedSpan, at now: PackedTime, into removals: inout Removals<Key, Value>
  ) -> Bool {
    guard settings.keepsTimes, let cutoff = now.subtracting(age) else { return false }
    return evictSlice(.explicit, at: now, into: &removals) { lru in
      let victim = lru.slab.leastRecent
      if lru.slab.lastUse(of: victim) > now { lru.dateFutureUses(at: now) }
      return lru.slab.lastUse(of: victim) <= cutoff
    }
  }

  /// Corrects times of use that lie in the future because the clock was set back, at the old end of
  /// the order: these uses were made before the next one in the order, and before now.
  ///
  /// - Complexity: O(*k*) for *k* such uses, each of which is corrected once.
  private mutating func dateFutureUses(at now: PackedTime) {
    var next = slab.leastRecent
    while next != .none, slab.lastUse(of: next) > now {
      next = slab.previous(before: next)
    }
    let time = next == .none ? now : slab.lastUse(of: next)
    var slot = slab.leastRecent
    while slot != next {
      slab.times[slot.index].lastUse = time
      slot = slab.previous(before: slot)
    }
  }
}

// Memory pressure.
extension LRU {
  /// Sets ceilings that lower the limits to what is left without a share of the cost, at the next
  /// `setLimits(_:at:)`.
  ///
  /// If all entries cost nothing, their number is reduced. An empty LRU keeps its limits, because
  /// it has nothing to free.
  mutating func setCeilings(without share: Double) {
    if slab.totalCost > 0 {
      settings.costCeiling = Self.rest(of: slab.totalCost, without: share)
    } else if slab.count > 0 {
      settings.countCeiling = Self.rest(of: slab.count, without: share)
    }
  }

  /// Whether entries have to go because of the ceilings.
  var isAboveCeilings: Bool {
    slab.totalCost > settings.costCeiling || slab.count > settings.countCeiling
  }

  /// Removes the ceilings, which restores the limits at the next `setLimits(_:at:)`.
  mutating func liftCeilings() {
    settings.costCeiling = .max
    settings.countCeiling = .max
  }

  /// Returns the rest of an amount without a share; at least 1, because 0 would let nothing in.
  private static func rest(of amount: Int, without share: Double) -> Int {
    max(1, amount - Int((Double(amount) * share).rounded(.down)))
  }
}
