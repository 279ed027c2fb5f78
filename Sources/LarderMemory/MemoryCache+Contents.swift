import LarderBasics

extension MemoryCache {
  /// The number of values, with those that have expired and were not found out yet.
  ///
  /// - Complexity: O(1).
  @inlinable
  public var count: Int { sum { $0.slab.count } }

  /// Whether there is no value, not even one that has expired and was not found out yet.
  ///
  /// - Complexity: O(1).
  @inlinable
  public var isEmpty: Bool { count == 0 }

  /// Returns whether there is a valid value; does not count as a use. See ``contains(_:)``.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func contains(forKey key: Key) -> Bool { contains(key) }

  /// What all values cost together, in the unit of the cost limit; with several stripes `Int.max`
  /// where the sum is more.
  ///
  /// - Complexity: O(1).
  @inlinable
  public var totalCost: Int { sum { $0.slab.totalCost } }

  /// The keys of the values that have not expired, the most recently used first.
  ///
  /// With several stripes, one stripe after the other. Counts as no use.
  ///
  /// - Complexity: O(*n*) under the lock.
  @inlinable
  public var keys: [Key] { elements { $0.key } }

  /// The values that have not expired, in the order of ``keys``.
  ///
  /// - Complexity: O(*n*) under the lock.
  @inlinable
  public var values: [Value] { elements { $0.value } }

  /// What was counted since the cache was made.
  ///
  /// With several stripes they are read one after the other.
  public var statistics: MemoryStatistics {
    var sum = MemoryCounters()
    for index in 0...stripeMask { sum.add(withStripe(at: index) { $0.counters }) }
    return MemoryStatistics(sum)
  }

  /// Collects a part of each living entry, in the order of use.
  @inlinable
  func elements<Element: Sendable>(
    _ transform: @Sendable (Slab<Key, Value>.Entry) -> Element
  ) -> [Element] {
    var elements: [Element] = []
    for index in 0...stripeMask {
      withStripe(at: index) { lru in
        elements.reserveCapacity(elements.count + lru.slab.count)
        lru.forEach(at: now(for: lru)) { elements.append(transform($0)) }
      }
    }
    return elements
  }

  #if DEBUG || LARDER_INVARIANTS
    /// Walks the whole structure and traps at the first thing that is not as it must be.
    func checkInvariants() {
      for index in 0...stripeMask { withStripe(at: index) { $0.checkInvariants() } }
    }
  #endif
}
