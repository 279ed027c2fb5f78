/// What both tiers and the front door can do with one key.
///
/// Each type says in its own documentation what it adds: the disk tier's durability, the memory
/// tier's order.
public protocol Caching<Key, Value>: Sendable {
  /// What a value is found by.
  associatedtype Key
  /// What is kept.
  associatedtype Value
  /// What an operation throws; `Never` for a tier that cannot fail.
  associatedtype Failure: Error = Never
  /// What removing everything reports.
  associatedtype Cleared: Sendable = Int

  /// Returns the value stored under a key, and counts as a use of it.
  ///
  /// - Returns: Nil for a value that is absent, expired or damaged alike; the tiers count which.
  /// - Throws: `Failure`: what the disk met; a tier in memory throws nothing.
  func value(forKey key: Key) throws(Failure) -> Value?

  /// Stores a value under a key in place of what was there; without an expiration, with the
  /// configured one.
  ///
  /// - Returns: What became of the value. Rejected, nothing older is left to be read.
  /// - Throws: `Failure`: what the disk met; a tier in memory throws nothing.
  @discardableResult
  func store(
    _ value: Value, forKey key: Key, expiration: Expiration?
  ) throws(Failure) -> StoreOutcome

  /// Removes the value stored under a key and returns whether there was one.
  ///
  /// - Throws: `Failure`: what the disk met; a tier in memory throws nothing.
  @discardableResult
  func remove(forKey key: Key) throws(Failure) -> Bool

  /// Removes every value.
  ///
  /// - Throws: `Failure`: what the disk met; a tier in memory throws nothing.
  @discardableResult
  func removeAll() throws(Failure) -> Cleared

  /// Returns whether a value is there to be read; does not count as a use of it.
  ///
  /// - Throws: `Failure`: what the disk met; a tier in memory throws nothing.
  func contains(_ key: Key) throws(Failure) -> Bool
}

/// What can give up its least recently used entries until it is small enough.
///
/// Expired entries go first, and they go even when the rest already fits.
public protocol Trimming: Sendable {
  /// What an operation throws; `Never` for a tier that cannot fail.
  associatedtype Failure: Error = Never
  /// What a trim reports.
  associatedtype Trimmed: Sendable = Int

  /// Removes the least recently used entries until at most `count` are left.
  ///
  /// Entries that were used at the same time go in an order that each tier documents.
  ///
  /// - Throws: `Failure`: what the disk met; a tier in memory throws nothing.
  @discardableResult
  func trim(toCount count: Int) throws(Failure) -> Trimmed

  /// Removes the least recently used entries until they cost at most `cost` together.
  ///
  /// - Throws: `Failure`: what the disk met; a tier in memory throws nothing.
  @discardableResult
  func trim(toCost cost: Int) throws(Failure) -> Trimmed

  /// Removes the entries that were last used `age` ago or earlier.
  ///
  /// - Throws: `Failure`: what the disk met; a tier in memory throws nothing.
  @discardableResult
  func trim(toAge age: Duration) throws(Failure) -> Trimmed
}
