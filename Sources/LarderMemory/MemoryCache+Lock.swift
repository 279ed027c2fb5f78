public import LarderBasics
public import LarderSystem
public import Synchronization

extension MemoryCache {
  /// The part of a hash that the table of a stripe keeps; the stripe is chosen by the other half.
  @inlinable @inline(__always)
  static func tag(_ hash: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: UInt(bitPattern: hash) &>> 32)
  }

  /// Locks the stripe of a hash for the length of a function.
  @inlinable @inline(__always)
  func withStripe<Result>(
    _ hash: Int, _ body: (inout sending LRU<Key, Value>) -> sending Result
  ) -> sending Result {
    // By the low bits; the table within goes by the high ones, so that stripes do not thin it out.
    withStripe(at: hash & stripeMask, body)
  }

  /// Locks a stripe for the length of a function.
  @inlinable @inline(__always)
  func withStripe<Result: ~Copyable>(
    at index: Int, _ body: (inout sending LRU<Key, Value>) -> sending Result
  ) -> sending Result {
    gate.enter()
    defer { gate.leave() }
    #if LARDER_HOLDS
      let start = HoldRecord.Start()
      defer { HoldRecord.memory.note(start) }
    #endif
    return stripes[index].withLock(body)
  }

  /// Locks the stripes one after the other and returns the sum of what a function returns, or the
  /// most there is where it is more.
  @inlinable
  func sum(_ body: (inout sending LRU<Key, Value>) -> sending Int) -> Int {
    var sum = 0
    for index in 0...stripeMask {
      let (next, overflow) = sum.addingReportingOverflow(withStripe(at: index, body))
      sum = overflow ? .max : next
    }
    return sum
  }

  /// The time, if the stripe needs it.
  @inlinable @inline(__always)
  func now(for lru: borrowing LRU<Key, Value>) -> PackedTime {
    lru.settings.keepsTimes ? PackedTime(configuration.clock.now()) : .zero
  }

  /// The time, whether a stripe needs it or not.
  @inlinable
  var now: PackedTime { PackedTime(configuration.clock.now()) }

  /// Whether anybody is to be told of what leaves.
  @inlinable @inline(__always)
  var isHeard: Bool {
    configuration.removalListener != nil || observers.isObserved.load(ordering: .relaxed)
  }

  /// Tells who listens what left, and lets go of it. Called without the lock.
  ///
  /// Values are released on return; where they are many, on another thread.
  @inlinable @inline(__always)
  func finish(_ removals: inout Removals<Key, Value>) {
    guard removals.first != nil else { return }
    if isHeard { tell(of: removals) }
    if removals.rest.count >= Self.releaseLimit { release(&removals) }
  }

  /// Tells who listens; out of line, since of most caches nobody is told.
  @inlinable @inline(never)
  func tell(of removals: Removals<Key, Value>) {
    removals.forEach { tell($0.key, $0.value, $0.cause) }
  }

  /// Tells the listener of a value that left, and then the sequences.
  @usableFromInline
  func tell(_ key: Key, _ value: Value, _ cause: RemovalCause) {
    configuration.removalListener?(key, value, cause)
    if observers.isObserved.load(ordering: .relaxed) {
      observers.tell(RemovalEvent(key: key, value: value, cause: cause))
    }
  }

  #if LARDER_INVARIANTS
    /// Checks the structure after every operation.
    @usableFromInline
    func check(_ lru: borrowing LRU<Key, Value>) { lru.checkInvariants() }
  #else
    /// Does nothing: `LARDER_INVARIANTS` is not set.
    @inlinable @inline(__always)
    func check(_ lru: borrowing LRU<Key, Value>) {}
  #endif
}
