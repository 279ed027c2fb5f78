public import LarderBasics

/// An entry that left a cache, and why.
@frozen
@usableFromInline
struct Removal<Key: Sendable, Value: Sendable>: Sendable {
  @usableFromInline
  let key: Key
  @usableFromInline
  let value: Value
  @usableFromInline
  let cause: RemovalCause

  /// Says what left and why.
  @inlinable
  init(key: Key, value: Value, cause: RemovalCause) {
    self.key = key
    self.value = value
    self.cause = cause
  }
}
