public import LarderBasics

extension LRU {
  /// Removes entries until an addition fits: expired ones, then by cost, then by count.
  ///
  /// Each exceeded limit is trimmed to its target. The entry `kept` is never a victim.
  @inlinable @inline(__always)
  mutating func makeRoom(
    cost: Int, count: Int, besides kept: Slot, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) {
    // Wrapping subtraction is safe: a cost above the limit was rejected before.
    guard slab.totalCost > settings.costLimit &- cost || slab.count > settings.countLimit &- count
    else { return }
    sweepIfDue(besides: kept, at: now, into: &removals)
    if slab.totalCost > settings.costLimit &- cost {
      evict(toCost: settings.costTarget &- cost, besides: kept, .evicted, at: now, into: &removals)
    }
    if slab.count > settings.countLimit &- count {
      evict(
        toCount: settings.countTarget &- count, besides: kept, .evicted, at: now, into: &removals)
    }
  }

  /// Removes expired entries and those that no longer fit after limits were lowered.
  @usableFromInline
  mutating func enforceLimits(at now: PackedTime, into removals: inout Removals<Key, Value>) {
    removeExpired(besides: .none, at: now, into: &removals)
    makeRoom(cost: 0, count: 0, besides: .none, at: now, into: &removals)
  }

  /// Removes the least recently used entries until the rest costs no more than a target.
  @inlinable
  mutating func evict(
    toCost target: Int, besides kept: Slot, _ cause: RemovalCause, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) {
    while slab.totalCost > target {
      let victim = slab.leastRecent
      if victim == .none || victim == kept { return }
      remove(victim, isExpired(victim, at: now) ? .expired : cause, into: &removals)
    }
  }

  /// Removes the least recently used entries until no more than a target are left.
  @inlinable
  mutating func evict(
    toCount target: Int, besides kept: Slot, _ cause: RemovalCause, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) {
    while slab.count > target {
      let victim = slab.leastRecent
      if victim == .none || victim == kept { return }
      remove(victim, isExpired(victim, at: now) ? .expired : cause, into: &removals)
    }
  }

  /// Removes the entries that were last used `age` ago or earlier.
  @usableFromInline
  mutating func evict(
    toAge age: PackedSpan, at now: PackedTime, into removals: inout Removals<Key, Value>
  ) {
    guard settings.keepsTimes, let cutoff = now.subtracting(age) else { return }
    while slab.leastRecent != .none {
      let victim = slab.leastRecent
      if slab.times[victim.index].lastUse > now { dateFutureUses(at: now) }
      if slab.times[victim.index].lastUse > cutoff { return }
      remove(victim, isExpired(victim, at: now) ? .expired : .explicit, into: &removals)
    }
  }

  /// Corrects times of use that lie in the future because the clock was set back, at the old end of
  /// the order: these uses were made before the next one in the order, and before now.
  ///
  /// - Complexity: O(*k*) for *k* such uses, each of which is corrected once.
  private mutating func dateFutureUses(at now: PackedTime) {
    var next = slab.leastRecent
    while next != .none, slab.times[next.index].lastUse > now {
      next = slab.previous(before: next)
    }
    let time = next == .none ? now : slab.times[next.index].lastUse
    var slot = slab.leastRecent
    while slot != next {
      slab.times[slot.index].lastUse = time
      slot = slab.previous(before: slot)
    }
  }
}

extension LRU {
  /// Sweeps before evicting, if an entry may have expired and enough stores have passed.
  ///
  /// A sweep looks at every entry. One sweep per eighth as many stores as there are entries keeps
  /// the cost of a store constant. Between two sweeps the least recently used entry goes even if
  /// another one has expired.
  @inlinable
  mutating func sweepIfDue(
    besides kept: Slot, at now: PackedTime, into removals: inout Removals<Key, Value>
  ) {
    guard settings.keepsTimes, storesSinceSweep >= slab.count / 8 else { return }
    removeExpired(besides: kept, at: now, into: &removals)
  }

  /// Removes the entries that are past their expiry or the age limit.
  ///
  /// - Complexity: O(*n*), or O(1) when nothing can have expired.
  @usableFromInline
  mutating func removeExpired(
    besides kept: Slot, at now: PackedTime, into removals: inout Removals<Key, Value>
  ) {
    guard settings.keepsTimes, earliestExpiry <= now || settings.ageLimit != nil else { return }
    storesSinceSweep = 0
    // A sweep in slices ends, because it would find nothing more.
    sweepSlot = 0
    earliestExpiry = .never
    var slot = slab.leastRecent
    while slot != .none {
      let next = slab.previous(before: slot)
      if slot != kept, isExpired(slot, at: now) {
        remove(slot, .expired, into: &removals)
      } else {
        earliestExpiry = min(earliestExpiry, slab.times[slot.index].expiry)
      }
      slot = next
    }
  }
}

extension LRU {
  /// Evicts the least recently used entries until a share of the cost is freed, and sets ceilings
  /// that lower the limits to the rest at the next `setLimits(_:at:)`.
  ///
  /// If all entries cost nothing, their number is reduced. An empty LRU keeps its limits, because
  /// it has nothing to free.
  mutating func reduce(
    by share: Double, at now: PackedTime, into removals: inout Removals<Key, Value>
  ) {
    removeExpired(besides: .none, at: now, into: &removals)
    if slab.totalCost > 0 {
      settings.costCeiling = Self.rest(of: slab.totalCost, without: share)
      evict(toCost: settings.costCeiling, besides: .none, .evicted, at: now, into: &removals)
    } else if slab.count > 0 {
      settings.countCeiling = Self.rest(of: slab.count, without: share)
      evict(toCount: settings.countCeiling, besides: .none, .evicted, at: now, into: &removals)
    }
  }

  /// Removes the ceilings, which restores the limits at the next `setLimits(_:at:)`.
  mutating func liftCeilings() {
    settings.costCeiling = .max
    settings.countCeiling = .max
  }

  /// Returns the rest of an amount without a share; at least 1, because a limit of 0 would let
  /// nothing in.
  private static func rest(of amount: Int, without share: Double) -> Int {
    max(1, amount - Int((Double(amount) * share).rounded(.down)))
  }
}
