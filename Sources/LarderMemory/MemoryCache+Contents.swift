import LarderBasics

extension MemoryCache {
  /// The number of values, including expired ones that were not noticed yet.
  ///
  /// - Complexity: O(1).
  @inlinable
  public var count: Int { sum { $0.slab.count } }

  /// Whether there is no value, not even an expired one that was not noticed yet.
  ///
  /// - Complexity: O(1).
  @inlinable
  public var isEmpty: Bool { count == 0 }

  /// The cost of all values together, in the unit of the cost limit. With several stripes,
  /// `Int.max` if the sum is larger.
  ///
  /// - Complexity: O(1).
  @inlinable
  public var totalCost: Int { sum { $0.slab.totalCost } }

  /// The keys of the values that have not expired, the most recently used first.
  ///
  /// With several stripes, one stripe after the other. Does not count as use.
  ///
  /// - Complexity: O(*n*) under the lock.
  @inlinable
  public var keys: [Key] { elements { $0.key } }

  /// The values that have not expired, in the order of ``keys``.
  ///
  /// - Complexity: O(*n*) under the lock.
  @inlinable
  public var values: [Value] { elements { $0.value } }

  /// The counters since the cache was made.
  ///
  /// With several stripes, the stripes' counters are read one after the other.
  public var statistics: MemoryStatistics {
    var sum = MemoryCounters()
    if isForked { return MemoryStatistics(sum) }
    for index in 0...stripeMask { sum.add(withStripe(at: index) { $0.counters }) }
    return MemoryStatistics(sum)
  }

  /// Collects a part of each valid entry, in the order of use.
  @inlinable
  func elements<Element: Sendable>(
    _ transform: @Sendable (Slab<Key, Value>.Entry) -> Element
  ) -> [Element] {
    var elements: [Element] = []
    let now = timeIfKept
    for index in 0...stripeMask {
      withStripe(at: index) { lru in
        elements.reserveCapacity(elements.count + lru.slab.count)
        lru.forEach(at: now) { elements.append(transform($0)) }
      }
    }
    return elements
  }
}
