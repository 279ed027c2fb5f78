public import LarderBasics

extension LRU {
  /// Removes the entry of a key and returns whether there was one that had not expired.
  @inlinable
  mutating func remove(
    _ key: Key, tag: UInt32, _ cause: RemovalCause, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) -> Bool {
    let slot = slab.find(key, tag: tag)
    guard slot != .none else { return false }
    // An expired value counts as absent for the caller, but the listener gets the true cause.
    let wasExpired = isExpired(slot, at: now)
    remove(slot, wasExpired ? .expired : cause, into: &removals)
    return !wasExpired
  }

  /// Removes an entry, counts the cause, and appends the entry to the removals.
  @inlinable
  mutating func remove(
    _ slot: Slot, _ cause: RemovalCause, into removals: inout Removals<Key, Value>
  ) {
    settings.counters.countRemovals(1, cause)
    let entry = slab.remove(slot)
    removals.append((entry.key, entry.value, cause))
  }

  /// Returns the settings of an empty LRU that replaces this one when all entries are removed.
  ///
  /// Exchanging the whole takes constant time, and the old one is released outside of the lock.
  @inlinable
  func settingsWhenEmptied(_ cause: RemovalCause) -> Settings {
    var settings = settings
    settings.counters = counters
    settings.counters.countRemovals(slab.count, cause)
    return settings
  }

  /// All counters.
  @inlinable
  var counters: MemoryCounters {
    var counters = settings.counters
    counters.hits &+= hits
    counters.missesAbsent &+= missesAbsent
    return counters
  }

  /// Begins a sweep in slices. Returns `false` if it would find nothing.
  @usableFromInline
  mutating func beginSweep(at now: PackedTime) -> Bool {
    guard settings.keepsTimes, earliestExpiry.hasCome(at: now) || settings.ageLimit != nil else {
      return false
    }
    (sweepSlot, sweptExpiry) = (1, .never)
    return true
  }

  /// Removes the expired entries among the next few slots.
  ///
  /// Goes by slot, because the order of use changes between two slices. Until the last slice
  /// `earliestExpiry` keeps its value, which is still a lower bound of all expiries.
  ///
  /// - Returns: Whether slots are left.
  @usableFromInline
  mutating func sweepSlice(at now: PackedTime, into removals: inout Removals<Key, Value>) -> Bool {
    // The sweep is over, because all entries were removed or looked through meanwhile.
    guard sweepSlot > 0 else { return false }
    let end = min(slab.end, sweepSlot + UInt32(Self.sliceCount))
    while sweepSlot < end {
      let slot = Slot(sweepSlot)
      sweepSlot += 1
      guard slab.isOccupied(slot) else { continue }
      if isExpired(slot, at: now) {
        remove(slot, .expired, into: &removals)
      } else {
        sweptExpiry = min(sweptExpiry, slab.times[slot.index].expiry)
      }
    }
    guard sweepSlot == slab.end else { return true }
    sweepSlot = 0
    storesSinceSweep = 0
    earliestExpiry = sweptExpiry
    return false
  }

  /// Takes the next step to less memory if little of it is in use. Slots change then.
  ///
  /// - Returns: Whether another step has to follow.
  mutating func shrinkSlice() -> Bool {
    guard slab.shrinkSlice() else { return false }
    // A sweep that is going on begins again, because entries may have moved behind it.
    if sweepSlot > 0 { sweepSlot = 1 }
    return true
  }
}
