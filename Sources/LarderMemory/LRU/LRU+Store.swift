public import LarderBasics

extension LRU {
  /// Stores a value as the most recently used one, and evicts other entries until it fits.
  ///
  /// If the value is rejected, an older value of the key is removed all the same.
  @inlinable @inline(__always)
  mutating func store(
    _ value: consuming Value, forKey key: Key, tag: UInt32, cost: Int, deadline: SlotDeadline,
    at now: PackedTime, into removals: inout Removals<Key, Value>
  ) -> StoreOutcome {
    let slot = slab.find(key, tag: tag)
    if let reason = rejection(cost: cost, deadline: deadline, at: now) {
      // The old value goes even without a new one, because it was to be replaced.
      if slot != .none { remove(slot, .replaced, into: &removals) }
      settings.counters.countRejection(reason)
      return .rejected(reason)
    }
    storesSinceSweep &+= 1
    settings.counters.stores &+= 1
    if slot == .none {
      // Before the insertion, so that neither limit is exceeded at any moment.
      makeRoom(cost: cost, count: 1, besides: .none, at: now, into: &removals)
      let new = slab.insert(key, value, tag: tag, cost: cost)
      setTimes(of: new, deadline, at: now)
    } else {
      replace(slot, key, value, at: now, into: &removals)
      setTimes(of: slot, deadline, at: now)
      // After the exchange, because the entry itself must not be the victim; before its cost is
      // set, because the sum of all costs could overflow.
      makeRoom(cost: cost, count: 0, besides: slot, at: now, into: &removals)
      slab.setCost(cost, of: slot)
    }
    return .stored
  }

  /// Returns the reason why a value cannot be kept, or nil.
  @inlinable
  func rejection(cost: Int, deadline: SlotDeadline, at now: PackedTime) -> StoreOutcome.Reason? {
    if deadline.expiry.hasCome(at: now) { return .expired }
    if let ageLimit = settings.ageLimit, ageLimit.isZero { return .expired }
    return cost > settings.costLimit || settings.countLimit == 0 ? .tooLarge : nil
  }

  /// Exchanges the value of an entry, which becomes the most recently used and has no cost yet.
  @inlinable
  mutating func replace(
    _ slot: Slot, _ key: Key, _ value: consuming Value, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) {
    let cause: RemovalCause = isExpired(slot, at: now) ? .expired : .replaced
    settings.counters.countRemovals(1, cause)
    var old = value
    // The old value leaves the lock with the removals, because releasing it may run any code.
    swap(&slab.entries[slot.index].value, &old)
    removals.append((key, old, cause))
    slab.setCost(0, of: slot)
    slab.moveToFront(slot)
  }

  /// Records the time of a store and the expiry of the entry, once any entry can expire.
  @inlinable
  mutating func setTimes(of slot: Slot, _ deadline: SlotDeadline, at now: PackedTime) {
    if deadline.expiry < .never {
      keepTimes(from: now)
      earliestExpiry = min(earliestExpiry, deadline.expiry)
      // The sweep may have passed the slot already.
      sweptExpiry = min(sweptExpiry, deadline.expiry)
    }
    guard settings.keepsTimes else { return }
    slab.times.initialize(
      at: slot.index,
      to: SlotTimes(expiry: deadline.expiry, lastUse: now, lifetime: deadline.lifetime))
  }

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
    // A sweep looks at every entry, at a slice of them in a store. One per eighth as many stores as
    // there are entries keeps the cost of a store constant. Where it has not come yet, the least
    // recently used entry goes even if another one has expired.
    if sweepSlot > 0 || storesSinceSweep >= slab.count / 8 && beginSweep(at: now) {
      _ = sweepSlice(at: now, into: &removals)
    }
    // One limit's target, and no target for the other.
    if slab.totalCost > settings.costLimit &- cost {
      evict(toCost: settings.costTarget &- cost, .max, besides: kept, at: now, into: &removals)
    }
    if slab.count > settings.countLimit &- count {
      evict(toCost: .max, settings.countTarget &- count, besides: kept, at: now, into: &removals)
    }
  }

  /// Removes the least recently used entries until the rest costs no more than a target, and there
  /// are no more than a number.
  @inlinable
  mutating func evict(
    toCost cost: Int, _ count: Int, besides kept: Slot, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) {
    while slab.totalCost > cost || slab.count > count {
      let victim = slab.leastRecent
      if victim == .none || victim == kept { return }
      remove(victim, isExpired(victim, at: now) ? .expired : .evicted, into: &removals)
    }
  }
}
