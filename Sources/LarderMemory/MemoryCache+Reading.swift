public import LarderBasics

extension MemoryCache {
  /// Returns the value of a key, or nil, and counts as a use of it.
  ///
  /// The value becomes the most recently used one, and its expiry moves as configured. An expired
  /// value is removed in a second step.
  ///
  /// - Complexity: O(1).
  //
  // No default for the argument of the function below: an optional there takes 82 instructions.
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
    var mustLookAgain = false
    let value: Value? = withStripe(hash) { lru in
      lru.value(
        forKey: key, tag: Self.tag(hash), extending: extending, at: timeUnderLock,
        mustLookAgain: &mustLookAgain)
    }
    return mustLookAgain ? valueOfSecondLook(key, hash, extending) : value
  }

  /// Looks for a value, mostly again: removes it if it has expired, or finds it in a table that is
  /// being changed. Another thread may have stored a new one since the first look.
  @usableFromInline
  func valueOfSecondLook(_ key: Key, _ hash: Int, _ extending: ExpirationExtending) -> Value? {
    var removals = Removals<Key, Value>()
    let now = timeIfKept
    let value: Value? = withStripe(hash) { lru in
      lru.valueOfSecondLook(
        forKey: key, tag: Self.tag(hash), extending: extending, at: now, into: &removals)
    }
    finish(&removals)
    return value
  }

  /// Returns the value of a key, or nil. Counts neither as a use nor in the statistics.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func peek(_ key: Key) -> Value? { timed { peek(key, at: $0) } }

  /// Returns the value of a key that is valid at a time that the caller has read.
  @inlinable
  package func peek(_ key: Key, at now: PackedTime) -> Value? {
    let hash = Self.hash(key)
    return withStripe(hash) { $0.peek(key, tag: Self.tag(hash), at: now) }
  }

  /// Returns whether a key has a valid value. Counts neither as a use nor in the statistics.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func contains(_ key: Key) -> Bool { timed { contains(key, at: $0) } }

  /// Returns whether a key has a value that is valid at a time that the caller has read.
  @inlinable
  package func contains(_ key: Key, at now: PackedTime) -> Bool {
    let hash = Self.hash(key)
    return withStripe(hash) { $0.contains(key, tag: Self.tag(hash), at: now) }
  }

  /// The value of a key, read as by `value(forKey:)`, set as by `store(_:forKey:)`; nil removes it.
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
