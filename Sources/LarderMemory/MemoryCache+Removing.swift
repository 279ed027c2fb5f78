public import LarderBasics
import LarderSystem
import Synchronization

extension MemoryCache {
  /// Removes the value of a key and returns whether there was a valid one.
  ///
  /// - Complexity: O(1).
  @inlinable
  @discardableResult
  public func remove(forKey key: Key) -> Bool {
    var removals = Removals<Key, Value>()
    let wasThere = remove(key, .explicit, at: timeIfKept, into: &removals)
    finish(&removals)
    return wasThere
  }

  /// Takes the value of a key out, which the caller passes to ``finish(_:)`` when it holds no lock.
  ///
  /// - Returns: Whether there was a valid one.
  @inlinable
  package func remove(
    _ key: Key, _ cause: RemovalCause, at now: PackedTime,
    into removals: inout Removals<Key, Value>
  ) -> Bool {
    let hash = Self.hash(key)
    return withStripe(hash) { lru in
      lru.remove(key, tag: Self.tag(hash), cause, at: now, into: &removals)
    }
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
  ///
  /// - Parameter isElsewhere: Whether another thread tells of the values and releases them, because
  ///   the caller may hold what they need.
  @usableFromInline
  @discardableResult
  package func removeAll(_ cause: RemovalCause, elsewhere isElsewhere: Bool = false) -> Int {
    var removed = 0
    for index in 0...stripeMask {
      // Before the values leave: a close that finds memory empty must not end the sequences.
      observers.putOffEnd()
      // The whole stripe is exchanged, so that all values are released outside of the lock.
      let old = Retired(
        withStripe(at: index) { exchange(&$0, with: LRU($0.settingsWhenEmptied(cause))) }
      ) { old in
        if isElsewhere {
          self.tell(of: old, cause)
          self.observers.finish()
        }
        old = LRU()
      }
      let count = old.look { $0.slab.count }
      removed += count
      if !isElsewhere { old.look { tell(of: $0, cause) } }
      if !isElsewhere || count == 0 { observers.finish() }
      let most = isElsewhere ? 0 : Self.releaseLimit
      if count > most { old.release(on: threads, waits: isElsewhere) }
    }
    return removed
  }

  private func tell(of lru: borrowing LRU<Key, Value>, _ cause: RemovalCause) {
    // At a time at which nothing has expired.
    if isHeard { lru.forEach(at: .zero) { tell($0.key, $0.value, cause) } }
  }

  /// Removes the values past their expiry or the age limit and returns their number.
  ///
  /// Other threads get at the cache in between if there are many values.
  ///
  /// - Complexity: O(*n*), or O(1) when no value can have expired.
  @discardableResult
  public func removeExpired() -> Int {
    removing(at: now) { _, _, _, _ in false }
  }

  /// Removes the expired values of each stripe and then what `evict` takes out, frees memory if a
  /// stripe is sparse, and returns the number of removed values.
  ///
  /// Works in slices, between which other threads get the stripe's lock. A stripe of up to
  /// ``LRU/sliceCount`` values is done in one.
  ///
  /// - Parameters:
  ///   - finishesSlices: Whether the values of a slice are told of and released before the next.
  ///   - evict: Takes a slice of values out of a stripe, which is the first there or not, and
  ///     returns whether another slice has to follow.
  func removing(
    at now: PackedTime, finishesSlices: Bool = false,
    _ evict: (
      _ stripe: Int, _ isFirst: Bool, inout LRU<Key, Value>, inout Removals<Key, Value>
    ) -> Bool
  ) -> Int {
    var removed = 0
    for index in 0...stripeMask {
      var removals = Removals<Key, Value>()
      var isSweeping: Bool?
      var (isFirst, isUnfinished, isSparse) = (true, true, false)
      while isUnfinished {
        isUnfinished = withStripe(at: index) { lru in
          let isSwept = !(isSweeping ?? lru.beginSweep(at: now))
          isSweeping = !isSwept && lru.sweepSlice(at: now, into: &removals)
          if isSweeping == true { return true }
          if evict(index, exchange(&isFirst, with: false), &lru, &removals) { return true }
          isSparse = lru.shrinkSlice()
          return false
        }
        if isUnfinished && !finishesSlices {
          // Outside of the lock, so that no slice copies the entries of those before it.
          removals.makeRoom(for: LRU<Key, Value>.sliceCount)
        } else {
          removed += removals.count
          finish(&removals)
          removals = Removals()
        }
      }
      if isSparse { shrink(stripe: index) }
    }
    return removed
  }

  /// Removes expired values, and plans the next sweep if any value is left that can expire.
  func sweep() {
    // The sweep first clears the plan and then looks at the entries; a store first adds its entry
    // and then looks at the plan. The second to take the lock sees the effect of the first.
    sweepPlan.store(0, ordering: .relaxed)
    _ = removing(at: now, finishesSlices: true) { _, _, _, _ in false }
    planSweepIfNeeded()
  }

  /// Plans a sweep if any stripe has a value that can expire.
  func planSweepIfNeeded() {
    for index in 0...stripeMask where withStripe(at: index, { $0.canExpire }) {
      return planSweep()
    }
  }

  /// Moves the values of a stripe to less memory, in slices.
  func shrink(stripe index: Int) {
    while withStripe(at: index, { $0.shrinkSlice() }) {}
  }
}
