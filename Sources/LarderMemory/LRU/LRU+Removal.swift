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
    // To the caller an expired value was not there; the listener is told the truth of why it left.
    let wasExpired = isExpired(slot, at: now)
    remove(slot, wasExpired ? .expired : cause, into: &removals)
    return !wasExpired
  }

  /// Removes an entry, counts why, and hands it out.
  @inlinable
  mutating func remove(
    _ slot: Slot, _ cause: RemovalCause, into removals: inout Removals<Key, Value>
  ) {
    settings.counters.countRemovals(1, cause)
    let entry = slab.remove(slot)
    removals.append(Removal(key: entry.key, value: entry.value, cause: cause))
  }

  /// The settings of one that takes this one's place when all entries are removed at once.
  ///
  /// Exchanging the whole value takes constant time, and is what lets the old one leave the lock.
  @inlinable
  func settingsWhenEmptied(_ cause: RemovalCause) -> Settings {
    var settings = settings
    settings.counters = counters
    settings.counters.countRemovals(slab.count, cause)
    return settings
  }

  /// Everything that was counted.
  @inlinable
  var counters: MemoryCounters {
    var counters = settings.counters
    counters.hits &+= hits
    counters.missesAbsent &+= missesAbsent
    return counters
  }
}

extension LRU {
  /// The entries that a slice of a sweep looks at: about 10 µs under the lock.
  static var sliceCount: Int { 256 }

  /// Begins a sweep in slices, or says that it would find nothing.
  mutating func beginSweep(at now: PackedTime) -> Bool {
    guard settings.keepsTimes, earliestExpiry <= now || settings.ageLimit != nil else {
      return false
    }
    (sweepSlot, sweptExpiry) = (1, .never)
    return true
  }

  /// Removes what has expired among the next few slots.
  ///
  /// By slot and not in the order of use, which changes between two slices. Until the last slice
  /// `earliestExpiry` stays what it was: no entry expires before it, which is all it promises.
  ///
  /// - Returns: Whether slots are left.
  mutating func sweepSlice(
    at now: PackedTime, into removals: inout Removals<Key, Value>
  ) -> Bool {
    // Everything was removed, looked through or moved meanwhile, and this sweep is over.
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

  /// Gives memory back if little of it is in use; slots move then.
  @usableFromInline
  mutating func shrinkIfSparse() {
    if slab.shrinkIfSparse() { sweepSlot = 0 }
  }
}
