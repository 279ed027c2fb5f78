public import LarderBasics

extension LRU {
  /// Stores a value as the most recently used one, and evicts others until it fits.
  ///
  /// A value that cannot be kept is rejected, and the one it was to replace is removed.
  @inlinable @inline(__always)
  mutating func store(
    _ value: consuming Value, forKey key: Key, tag: UInt32, cost: Int, deadline: SlotDeadline,
    at now: PackedTime, into removals: inout Removals<Key, Value>
  ) -> StoreOutcome {
    let slot = slab.find(key, tag: tag)
    if let reason = rejection(cost: cost, deadline: deadline, at: now) {
      // The old value goes even though nothing takes its place: it was meant to be replaced.
      if slot != .none { remove(slot, .replaced, into: &removals) }
      settings.counters.countRejection(reason)
      return .rejected(reason)
    }
    storesSinceSweep &+= 1
    settings.counters.stores &+= 1
    if slot == .none {
      // Before the insertion, so that neither limit is passed at any moment.
      makeRoom(cost: cost, count: 1, besides: .none, at: now, into: &removals)
      let new = slab.insert(key, value, tag: tag, cost: cost)
      setTimes(of: new, deadline, at: now)
    } else {
      replace(slot, key, value, at: now, into: &removals)
      setTimes(of: slot, deadline, at: now)
      // After the exchange, for the entry itself is never the victim; before it costs anything, for
      // the sum of all costs may be more than a number holds.
      makeRoom(cost: cost, count: 0, besides: slot, at: now, into: &removals)
      slab.setCost(cost, of: slot)
    }
    return .stored
  }

  /// Why a value cannot be kept, or nil.
  @inlinable
  func rejection(
    cost: Int, deadline: SlotDeadline, at now: PackedTime
  ) -> StoreOutcome.Reason? {
    if deadline.expiry <= now { return .expired }
    if let ageLimit = settings.ageLimit, ageLimit.isZero { return .expired }
    return cost > settings.costLimit || settings.countLimit == 0 ? .tooLarge : nil
  }

  /// Exchanges the value of an entry, which becomes the most recently used and costs nothing yet.
  @inlinable
  mutating func replace(
    _ slot: Slot, _ key: Key, _ value: consuming Value, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) {
    let cause: RemovalCause = isExpired(slot, at: now) ? .expired : .replaced
    settings.counters.countRemovals(1, cause)
    var old = value
    // The old value is carried out of the lock: releasing it may run any code.
    swap(&slab.entries[slot.index].value, &old)
    removals.append(Removal(key: key, value: old, cause: cause))
    slab.setCost(0, of: slot)
    slab.moveToFront(slot)
  }

  /// Records when an entry was stored and when it expires, once that matters to any entry.
  @inlinable
  mutating func setTimes(of slot: Slot, _ deadline: SlotDeadline, at now: PackedTime) {
    if deadline.expiry < .never {
      keepTimes(from: now)
      earliestExpiry = min(earliestExpiry, deadline.expiry)
      // The sweep may be past the slot already.
      sweptExpiry = min(sweptExpiry, deadline.expiry)
    }
    guard settings.keepsTimes else { return }
    slab.times.initialize(
      at: slot.index,
      to: SlotTimes(expiry: deadline.expiry, lastUse: now, lifetime: deadline.lifetime))
  }
}
