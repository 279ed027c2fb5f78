public import LarderBasics
import LarderSystem
import Synchronization

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

/// Something to be released, by another thread than the one that is done with it if it is much.
final class Retired<Content: ~Copyable>: Sendable {
  private let content: Mutex<Content>
  private let empty: @Sendable (inout sending Content) -> Void

  /// - Parameter empty: Takes everything out of the content and releases it.
  init(
    _ content: consuming sending Content,
    emptiedBy empty: @escaping @Sendable (inout sending Content) -> Void
  ) {
    self.content = Mutex(content)
    self.empty = empty
  }

  /// Looks at the content, under a lock that nobody waits for before it is handed on.
  func look<Result: Sendable>(_ body: (borrowing Content) -> Result) -> Result {
    content.withLock { body($0) }
  }

  /// Releases the content on a thread for upkeep, as soon as one is free.
  func releaseElsewhere() {
    // By emptying it and not with this object, whose last reference may be the caller's.
    IOExecutor.upkeep.submit { self.content.withLock { self.empty(&$0) } }
  }
}

extension MemoryCache {
  /// The most values that the thread whose call removed them releases itself.
  ///
  /// Releasing a value of one allocation takes 20 to 50 ns, so that a caller waits for 50 µs at the
  /// most; handing them on takes a few.
  @inlinable
  static var releaseLimit: Int { 1_000 }

  /// Lets another thread release what left.
  @usableFromInline
  func release(_ removals: inout Removals<Key, Value>) {
    // Taken out of the caller's variable, so that the last reference is the other thread's.
    Retired(removals.takeAll()) { $0 = Removals() }.releaseElsewhere()
  }
}

extension MemoryCache {
  /// The values that leave from now on and why, for one task; ask again for another task.
  ///
  /// ```swift
  /// for await removal in cache.removals(bufferingNewest: 100) {
  ///   print(removal.key, removal.cause, removal.missedCount)
  /// }
  /// ```
  ///
  /// A task that falls behind by more than the buffer misses the oldest; the events count them.
  /// Every sequence hears of every value, and the removal listener too. The cost falls on removals:
  /// a lock for each of them while there is a sequence, nothing while there is none.
  ///
  /// - Parameter limit: The most values that wait for the task, at least 1; they stay in memory.
  /// - Complexity: O(1) here; a removal costs O(1) for each sequence that is listened to.
  public func removals(bufferingNewest limit: Int = 100) -> RemovalEvents<RemovalEvent<Key, Value>>
  {
    observers.add(bufferingNewest: limit)
  }
}
