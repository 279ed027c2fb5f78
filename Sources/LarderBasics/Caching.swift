/// The operations on one key that both tiers and the cache with two tiers have in common.
///
/// The documentation of each type says what it adds: the disk tier's durability, the memory tier's
/// order.
public protocol Caching<Key, Value>: Sendable {
  /// The type of the keys.
  associatedtype Key
  /// The type of the values.
  associatedtype Value
  /// The error of the operations; `Never` for a tier that cannot fail.
  associatedtype Failure: Error = Never
  /// The report of a removal of all values.
  associatedtype Cleared: Sendable = Int

  /// Returns the value stored under a key, and counts as a use of it.
  ///
  /// - Returns: Nil for a value that is absent, expired or damaged; the tiers count these apart.
  /// - Throws: `Failure`: the disk's error; a tier in memory throws nothing.
  func value(forKey key: Key) throws(Failure) -> Value?

  /// Stores a value under a key and replaces an older one. Without an expiration, the configured
  /// one applies.
  ///
  /// - Returns: The outcome. If the value is rejected, no older value is left to be read either.
  /// - Throws: `Failure`: the disk's error; a tier in memory throws nothing.
  @discardableResult
  func store(
    _ value: Value, forKey key: Key, expiration: Expiration?
  ) throws(Failure) -> StoreOutcome

  /// Removes the value stored under a key and returns whether there was one.
  ///
  /// - Throws: `Failure`: the disk's error; a tier in memory throws nothing.
  @discardableResult
  func remove(forKey key: Key) throws(Failure) -> Bool

  /// Removes every value.
  ///
  /// - Throws: `Failure`: the disk's error; a tier in memory throws nothing.
  @discardableResult
  func removeAll() throws(Failure) -> Cleared

  /// Returns whether a read would find a value; does not count as a use of it.
  ///
  /// - Throws: `Failure`: the disk's error; a tier in memory throws nothing.
  func contains(_ key: Key) throws(Failure) -> Bool
}

/// A cache that can remove its least recently used entries until it is small enough.
///
/// Expired entries go first, even when the rest already fits.
public protocol Trimming: Sendable {
  /// The error of the operations; `Never` for a tier that cannot fail.
  associatedtype Failure: Error = Never
  /// The report of a trim.
  associatedtype Trimmed: Sendable = Int

  /// Removes the least recently used entries until at most `count` are left.
  ///
  /// Entries that were used at the same time go in an order that each tier documents.
  ///
  /// - Throws: `Failure`: the disk's error; a tier in memory throws nothing.
  @discardableResult
  func trim(toCount count: Int) throws(Failure) -> Trimmed

  /// Removes the least recently used entries until they cost at most `cost` together.
  ///
  /// - Throws: `Failure`: the disk's error; a tier in memory throws nothing.
  @discardableResult
  func trim(toCost cost: Int) throws(Failure) -> Trimmed

  /// Removes the entries that were last used `age` ago or earlier.
  ///
  /// - Throws: `Failure`: the disk's error; a tier in memory throws nothing.
  @discardableResult
  func trim(toAge age: Duration) throws(Failure) -> Trimmed
}

/// The outcome of a store.
public enum StoreOutcome: Sendable, Hashable {
  /// The value is in the cache.
  case stored
  /// The value is accepted and is being written in the background.
  case pending
  /// The value is not in the cache, and an older one is not either.
  case rejected(Reason)

  /// The reason why a value was not stored. More may be added: give a `switch` over them a
  /// `default`.
  @nonexhaustive
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// It had expired before it was stored.
    case expired
    /// It costs more than the whole cache may hold.
    case tooLarge
    /// A value was there, and the store was not to replace it.
    case alreadyPresent
    /// The admission hook declined it, or a newer store of the key came first.
    case declined
  }
}

extension StoreOutcome: CustomStringConvertible {
  /// `stored`, `pending`, or `rejected: ` and the reason.
  public var description: String {
    switch self {
    case .stored: "stored"
    case .pending: "pending"
    case .rejected(let reason): "rejected: \(reason)"
    }
  }
}

extension StoreOutcome.Reason: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .expired: "expired already"
    case .tooLarge: "too large"
    case .alreadyPresent: "a value was there"
    case .declined: "declined by the admission hook, or a newer store came first"
    }
  }
}

extension StoreOutcome {
  /// Whether the value was accepted.
  @inlinable
  public var isKept: Bool {
    switch self {
    case .stored, .pending: true
    case .rejected: false
    }
  }
}
