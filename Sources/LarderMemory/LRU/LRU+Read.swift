public import LarderBasics

extension LRU {
  /// Returns the value of a key, makes it the most recently used, and extends its expiry.
  ///
  /// For an expired entry it returns nil, counts nothing, and sets `isExpired`; the caller must
  /// then call `expire(_:tag:at:into:)`. So the code that removes an entry is not on the path of a
  /// hit.
  ///
  /// - Parameter now: The time, asked for only if there is an entry and times are kept.
  @inlinable @inline(__always)
  mutating func value(
    forKey key: Key, tag: UInt32, extending: ExpirationExtending,
    at now: @autoclosure () -> PackedTime, isExpired: inout Bool
  ) -> Value? {
    let slot = slab.find(key, tag: tag)
    guard slot != .none else {
      missesAbsent &+= 1
      return nil
    }
    if settings.keepsTimes {
      let now = now()
      if self.isExpired(slot, at: now) {
        isExpired = true
        return nil
      }
      slab.times[slot.index].use(extending, at: now)
    }
    slab.moveToFront(slot)
    hits &+= 1
    return slab.entries[slot.index].value
  }

  /// Removes the entry of a key if it has expired, and counts the miss that noticed it.
  @usableFromInline
  mutating func expire(
    _ key: Key, tag: UInt32, at now: PackedTime, into removals: inout Removals<Key, Value>
  ) {
    settings.counters.missesExpired &+= 1
    let slot = slab.find(key, tag: tag)
    if slot != .none, isExpired(slot, at: now) { remove(slot, .expired, into: &removals) }
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
