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
