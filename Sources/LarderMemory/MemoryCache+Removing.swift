public import LarderBasics

extension MemoryCache {
  /// Removes the value of a key and returns whether there was a valid one.
  ///
  /// - Complexity: O(1).
  @inlinable
  @discardableResult
  public func remove(forKey key: Key) -> Bool {
    remove(forKey: key, cause: .explicit)
  }

  /// Removes the value of a key for a given cause.
  @inlinable
  @discardableResult
  package func remove(forKey key: Key, cause: RemovalCause) -> Bool {
    let hash = key.hashValue
    var removals = Removals<Key, Value>()
    let wasThere = withStripe(hash) { lru in
      let wasThere = lru.remove(
        key, tag: Self.tag(hash), cause, at: now(for: lru), into: &removals)
      check(lru)
      return wasThere
    }
    finish(&removals)
    return wasThere
  }

  /// Removes every value and returns how many there were, expired ones included.
  ///
  /// If there are many values, another thread releases them, so they may live on for a moment.
  ///
  /// - Complexity: O(1) under the lock.
  @inlinable
  @discardableResult
  public func removeAll() -> Int {
    removeAll(.explicit)
  }

  /// Removes every value for a given cause.
  @usableFromInline
  @discardableResult
  func removeAll(_ cause: RemovalCause) -> Int {
    var removed = 0
    for index in 0...stripeMask {
      // The whole stripe is exchanged, so that all values are released outside of the lock.
      let old = Retired(
        withStripe(at: index) { lru in
          let old = lru
          lru = LRU(old.settingsWhenEmptied(cause))
          return old
        }
      ) { $0 = LRU() }
      let count = old.look { $0.slab.count }
      removed += count
      if isHeard { old.look { $0.slab.forEach { tell($0.key, $0.value, cause) } } }
      if count > Self.releaseLimit { old.releaseElsewhere() }
    }
    return removed
  }

  /// Removes the values past their expiry or the age limit and returns their number.
  ///
  /// - Complexity: O(*n*), or O(1) when no value can have expired.
  @inlinable
  @discardableResult
  public func removeExpired() -> Int {
    removing { $0.removeExpired(besides: .none, at: now(for: $0), into: &$1) }
  }

  /// Runs a removal in each stripe, frees memory if a stripe is sparse, and returns the number of
  /// removed values.
  @inlinable
  func removing(
    _ body: (inout LRU<Key, Value>, inout Removals<Key, Value>) -> Void
  ) -> Int {
    var removed = 0
    for index in 0...stripeMask {
      var removals = Removals<Key, Value>()
      withStripe(at: index) { lru in
        body(&lru, &removals)
        lru.shrinkIfSparse()
        check(lru)
      }
      removed += removals.count
      finish(&removals)
    }
    return removed
  }
}
