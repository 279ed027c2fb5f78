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
