/// What an operation took out of a cache: carried out of the lock, told to the listener, released.
///
/// One entry, the usual number, takes no allocation.
@frozen
@usableFromInline
struct Removals<Key: Sendable, Value: Sendable>: Sendable {
  /// The entry that left first.
  @usableFromInline
  var first: Removal<Key, Value>?
  /// Those that followed it.
  @usableFromInline
  var rest: [Removal<Key, Value>] = []

  /// Nothing yet.
  @inlinable
  init() {}

  /// The number of entries.
  @inlinable
  var count: Int { first == nil ? 0 : 1 + rest.count }

  /// Adds an entry that left after the others.
  @inlinable
  package mutating func append(_ removal: consuming Removal<Key, Value>) {
    // The usual case is one; an array would be an allocation under the lock.
    if first == nil {
      first = removal
    } else {
      rest.append(removal)
    }
  }

  /// Takes all entries out.
  mutating func takeAll() -> Removals {
    defer { self = Removals() }
    return self
  }

  /// Calls a function with each entry, in the order of removal.
  @inlinable
  func forEach(_ body: (Removal<Key, Value>) -> Void) {
    if let first { body(first) }
    for removal in rest { body(removal) }
  }
}
