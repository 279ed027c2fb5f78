import LarderLibc
public import Synchronization

/// A gate at which the threads of a forked child wait, in place of waiting at a mutex.
///
/// `Synchronization.Mutex` stores the number of the thread that holds it, and each thread remembers
/// its own number. In the child, the thread that forked has another number, but still remembers the
/// old one. As soon as a second thread waits for a mutex that it holds, the kernel finds no such
/// owner, and the child ends with "Unknown error occurred while attempting to acquire a Mutex".
/// That is so in Swift 6.3; a mutex without waiters works. Except in a child, a gate is always
/// open.
@usableFromInline
package struct ForkGate: ~Copyable, Sendable {
  /// Whether the gate was made in a forked child. An inherited gate stays open, because it may be
  /// held by a thread that the child does not have.
  @usableFromInline
  let isInChild = ProcessIdentity.forkCount > 0
  private let isTaken = Atomic<Bool>(false)

  @usableFromInline
  package init() {}

  /// Waits until no other thread holds the gate.
  @inlinable @inline(__always)
  package func enter() {
    if isInChild { take() }
  }

  /// Lets the next thread enter.
  @inlinable @inline(__always)
  package func leave() {
    if isInChild { giveBack() }
  }

  /// Waits without the kernel, because the guarded sections take microseconds, and a child that
  /// goes on using the library is rare.
  @usableFromInline
  func take() {
    var attempts = 0
    while isTaken.exchange(true, ordering: .acquiring) {
      attempts += 1
      if attempts < 64 { sched_yield() } else { usleep(50) }
    }
  }

  @usableFromInline
  func giveBack() {
    isTaken.store(false, ordering: .releasing)
  }
}

/// A mutex that a forked child can use as its parent does. Source: ``ForkGate``.
@usableFromInline
package struct ForkSafeMutex<Value: ~Copyable>: ~Copyable, Sendable {
  // Inlined into other targets, because a call that is not specialised looks its types up, which
  // takes more instructions than a hit in memory.
  @usableFromInline
  let mutex: Mutex<Value>
  @usableFromInline
  let gate: ForkGate

  @inlinable
  package init(_ value: consuming sending Value) {
    mutex = Mutex(value)
    gate = ForkGate()
  }

  #if !LARDER_SCHEDULES
    @inlinable @inline(__always)
    package func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      gate.enter()
      defer { gate.leave() }
      return try mutex.withLock(body)
    }
  #endif
}

/// A value that each process has for itself: a forked child gets a new one at its first access.
///
/// Use it for state that threads share. A child inherits a copy of such state that may be locked by
/// a thread that the child does not have, that counts only its parent's threads, and that holds
/// their jobs. The copy cannot be repaired, so the child neither uses nor ends it.
///
/// Safe to use from any thread, also in a child that was forked while another thread used it,
/// because access takes no lock.
@usableFromInline
package struct PerProcess<Value: ~Copyable & Sendable>: ~Copyable, Sendable {
  /// The value of one process.
  @usableFromInline
  package final class Own: Sendable {
    @usableFromInline
    package let value: Value
    @usableFromInline
    let forkCount = ProcessIdentity.forkCount
    /// The value of a forked child, or the next in a chain of forks.
    @usableFromInline
    let next = AtomicLazyReference<Own>()

    @usableFromInline
    init(_ value: consuming sending Value) {
      self.value = value
    }
  }

  @usableFromInline
  let first: Own
  @usableFromInline
  let make: @Sendable () -> sending Value
  #if LARDER_SCHEDULES
    @usableFromInline
    let scheduled = ScheduledOwn<Own>()
  #endif

  /// Makes the value of this process.
  ///
  /// - Parameter make: Makes a value. It is called again in a forked child, by several threads at
  ///   once if they all ask first; one of the results is kept.
  @inlinable
  package init(_ make: @escaping @Sendable () -> sending Value) {
    self.make = make
    first = Own(make())
  }

  /// The value of this process.
  ///
  /// - Complexity: O(f) for f forks between the first process and this one in which the value was
  ///   used.
  #if LARDER_SCHEDULES
    package var own: Own { scheduled.own(make) }
  #else
    @inlinable
    package var own: Own { ownOfFork }
  #endif

  @inlinable
  var ownOfFork: Own {
    let forkCount = ProcessIdentity.forkCount
    var own = first
    while own.forkCount != forkCount {
      // Older values are kept: the inherited copy may have waiters, and ending it would wait for
      // threads that this process does not have. See: man 3 pthread_cond_destroy.
      own = own.next.load() ?? own.next.storeIfNil(Own(make()))
    }
    return own
  }
}
