public import LarderBasics

extension LRU {
  /// Returns the value of a key, makes it the most recently used, and extends its expiry.
  ///
  /// For an expired entry, for one that may be in the old buckets of the table, and without the
  /// time where it is needed, it returns nil, counts nothing, and sets `mustLookAgain`; the caller
  /// must then call
  /// `valueOfSecondLook(forKey:tag:extending:at:into:)`. So the code that removes an entry or
  /// searches a second time is not on the path of a hit, which would take a sixth longer with it.
  ///
  /// - Parameter now: The time, asked for only if there is an entry and times are kept; nil if it
  ///   cannot be read under the lock.
  @inlinable @inline(__always)
  mutating func value(
    forKey key: Key, tag: UInt32, extending: ExpirationExtending,
    at now: @autoclosure () -> PackedTime?, mustLookAgain: inout Bool
  ) -> Value? {
    let slot = slab.findInNewBuckets(key, tag: tag)
    guard slot != .none else {
      if slab.table.oldCount > 0 { mustLookAgain = true } else { missesAbsent &+= 1 }
      return nil
    }
    if settings.keepsTimes {
      guard let now = now(), !self.isExpired(slot, at: now) else {
        mustLookAgain = true
        return nil
      }
      slab.times[slot.index].use(extending, at: now)
    }
    slab.moveToFront(slot)
    hits &+= 1
    return slab.entries[slot.index].value
  }

  /// Returns the value of a key as the first look does, from all buckets; removes an expired one.
  @usableFromInline
  mutating func valueOfSecondLook(
    forKey key: Key, tag: UInt32, extending: ExpirationExtending, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) -> Value? {
    let slot = slab.find(key, tag: tag)
    guard slot != .none else {
      missesAbsent &+= 1
      return nil
    }
    if isExpired(slot, at: now) {
      settings.counters.missesExpired &+= 1
      remove(slot, .expired, into: &removals)
      return nil
    }
    // Zero if the first time was kept a moment ago, after the clock was passed over.
    if settings.keepsTimes, now > .zero { slab.times[slot.index].use(extending, at: now) }
    slab.moveToFront(slot)
    hits &+= 1
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
