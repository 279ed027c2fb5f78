public import LarderBasics

extension MemoryCache {
  /// Returns the value of a key, or nil, and counts as a use of it.
  ///
  /// The value becomes the most recently used one, and its expiry moves as configured. An expired
  /// value is removed in a second step.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func value(forKey key: Key) -> Value? {
    value(forKey: key, extending: configuration.extending)
  }

  /// Returns the value of a key, or nil, and counts as a use of it that moves the expiry as
  /// `extending` says.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func value(forKey key: Key, extending: ExpirationExtending) -> Value? {
    let hash = Self.hash(key)
    var isExpired = false
    let value: Value? = withStripe(hash) { lru in
      let value = lru.value(
        forKey: key, tag: Self.tag(hash), extending: extending, at: now, isExpired: &isExpired)
      check(lru)
      return value
    }
    if isExpired { expire(key, hash) }
    return value
  }

  /// Removes an expired value, unless a new one was stored since the read found it expired.
  @usableFromInline
  func expire(_ key: Key, _ hash: Int) {
    var removals = Removals<Key, Value>()
    withStripe(hash) { lru in
      lru.expire(key, tag: Self.tag(hash), at: now(for: lru), into: &removals)
      check(lru)
    }
    finish(&removals)
  }

  /// Returns the value of a key, or nil. Counts neither as a use nor in the statistics.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func peek(_ key: Key) -> Value? {
    let hash = Self.hash(key)
    return withStripe(hash) { $0.peek(key, tag: Self.tag(hash), at: now(for: $0)) }
  }

  /// Returns whether a key has a valid value. Counts neither as a use nor in the statistics.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func contains(_ key: Key) -> Bool {
    let hash = Self.hash(key)
    return withStripe(hash) { $0.contains(key, tag: Self.tag(hash), at: now(for: $0)) }
  }

  /// The value of a key, read as by `value(forKey:)` and set as by `store(_:forKey:)`; nil removes
  /// it.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    set {
      if let newValue {
        store(newValue, forKey: key)
      } else {
        remove(forKey: key)
      }
    }
  }
}
