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
    guard settings.keepsTimes, earliestExpiry.hasCome(at: now) || settings.ageLimit != nil
    else { return }
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
