public import LarderBasics
import LarderSystem
import Synchronization

/// The entries that an operation took out of a cache. They leave the lock, are reported to the
/// listener, and are released.
///
/// A single entry, which is the usual number, needs no allocation.
@frozen
@usableFromInline
package struct Removals<Key: Sendable, Value: Sendable>: Sendable {
  /// An entry that left a cache, and the cause.
  @usableFromInline
  typealias Removal = (key: Key, value: Value, cause: RemovalCause)

  /// The entry that left first.
  @usableFromInline
  var first: Removal?
  /// The entries that followed it.
  @usableFromInline
  var rest: [Removal] = []

  /// Creates an empty collection.
  @inlinable
  package init() {}

  /// The number of entries.
  @inlinable
  package var count: Int { first == nil ? 0 : 1 + rest.count }

  /// Adds an entry that left after the ones before it.
  @inlinable
  mutating func append(_ removal: consuming Removal) {
    // Usually there is one entry; an array would be an allocation under the lock.
    guard first != nil else { return first = removal }
    rest.append(removal)
  }

  /// Makes room for a number of further entries.
  mutating func makeRoom(for count: Int) {
    guard rest.capacity - rest.count < count else { return }
    // Twice as much, so that repeated calls copy each entry once on average.
    rest.reserveCapacity(2 * rest.count + count)
  }

  /// Adds the entries that left after the ones before them.
  package mutating func append(contentsOf other: consuming Removals) {
    if first == nil { return self = other }
    if let next = other.first { rest.append(next) }
    rest += other.rest
  }

  /// Calls a function with each entry, in the order of removal.
  @inlinable
  func forEach(_ body: (Removal) -> Void) {
    if let first { body(first) }
    for removal in rest { body(removal) }
  }
}

/// Content to be released, on another thread if it is large.
package final class Retired<Content: ~Copyable>: Sendable {
  private let content: Mutex<Content>
  private let empty: @Sendable (inout sending Content) -> Void

  /// - Parameter empty: Takes everything out of the content and releases it.
  package init(
    _ content: consuming sending Content,
    emptiedBy empty: @escaping @Sendable (inout sending Content) -> Void
  ) {
    self.content = Mutex(content)
    self.empty = empty
  }

  /// Reads the content. The lock is uncontended until the content is handed to another thread.
  func look<Result: Sendable>(_ body: (borrowing Content) -> Result) -> Result {
    content.withLock { body($0) }
  }

  /// Releases the content on another thread.
  ///
  /// - Parameter waits: Whether that waits if no thread can be had. Otherwise the caller does it.
  func release(on threads: IOExecutor, waits: Bool = false) {
    // By emptying the content: the caller may hold the last reference to this object.
    let job: Job = { self.content.withLock { self.empty(&$0) } }
    if waits { threads.submitEventually(job) } else { threads.submit(job) }
  }
}

extension MemoryCache {
  /// The most removed values that the calling thread releases itself.
  ///
  /// Releasing a value of one allocation takes 20 to 50 ns, so a caller waits for 50 µs at the
  /// most; handing values to another thread takes a few µs.
  @inlinable
  static var releaseLimit: Int { 1_000 }

  /// Releases removed entries on another thread.
  @usableFromInline
  func release(_ removals: inout Removals<Key, Value>) {
    // Taken out of the caller's variable, so that the other thread has the last reference.
    Retired(exchange(&removals, with: Removals())) { $0 = Removals() }.release(on: threads)
  }

  /// Returns a sequence of the values that leave from now on and the causes, for one task; call
  /// again for another task.
  ///
  /// ```swift
  /// for await removal in cache.removals(bufferingNewest: 100) {
  ///   print(removal.key, removal.cause, removal.missedCount)
  /// }
  /// ```
  ///
  /// A task that falls behind by more than the buffer misses the oldest events; the next event
  /// counts them. Every sequence gets every value, and the removal listener does too. The cost
  /// falls on removals: a lock for each of them while there is a sequence, nothing while there is
  /// none.
  ///
  /// - Parameter limit: The most values that wait for the task, at least 1; they stay in memory.
  /// - Complexity: O(1) here; each removal costs O(1) for each sequence in use.
  public func removals(bufferingNewest limit: Int = 100) -> RemovalEvents<RemovalEvent<Key, Value>>
  {
    observers.add(bufferingNewest: limit)
  }
}
