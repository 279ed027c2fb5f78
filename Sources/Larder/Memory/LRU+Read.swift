extension LRU {
  /// Returns the value of a key, makes it the most recently used, and extends its expiry.
  ///
  /// An expired entry is removed and not returned.
  @inlinable @inline(__always)
  mutating func value(
    forKey key: Key, tag: UInt32, extending: ExpirationExtending, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) -> Value? {
    let slot = slab.find(key, tag: tag)
    guard slot != .none else {
      settings.statistics.missesAbsent &+= 1
      return nil
    }
    if settings.keepsTimes {
      if isExpired(slot, at: now) {
        settings.statistics.missesExpired &+= 1
        remove(slot, .expired, into: &removals)
        return nil
      }
      slab.times[slot.index].use(extending, at: now)
    }
    slab.moveToFront(slot)
    settings.statistics.hits &+= 1
    return slab.entries[slot.index].value
  }

  /// Returns the value of a key and changes nothing.
  @inlinable
  func peek(_ key: Key, tag: UInt32, at now: PackedTime) -> Value? {
    let slot = slab.find(key, tag: tag)
    return slot == .none || isExpired(slot, at: now) ? nil : slab.entries[slot.index].value
  }

  /// Whether a key has a value that has not expired.
  @inlinable
  func contains(_ key: Key, tag: UInt32, at now: PackedTime) -> Bool {
    let slot = slab.find(key, tag: tag)
    return slot != .none && !isExpired(slot, at: now)
  }

  /// Calls a function with each entry that has not expired, the most recently used first.
  @inlinable
  func forEach(at now: PackedTime, _ body: (Slab<Key, Value>.Entry) -> Void) {
    var slot = slab.mostRecent
    while slot != .none {
      if !isExpired(slot, at: now) { body(slab.entries[slot.index]) }
      slot = slab.next(after: slot)
    }
  }
}
