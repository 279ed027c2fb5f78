/// A value that left a cache, as a sequence of removals tells of it.
public struct RemovalEvent<Key: Sendable, Value: Sendable>: Sendable {
  /// The key that it was stored under.
  public let key: Key
  /// The value.
  public let value: Value
  /// Why it left.
  public let cause: RemovalCause
  /// How many removals the sequence left out since the event before this one, because its buffer
  /// was full. All of them together are exact; where in the sequence they are missing is not.
  public package(set) var missedCount = 0

  package init(key: Key, value: Value, cause: RemovalCause) {
    self.key = key
    self.value = value
    self.cause = cause
  }
}
