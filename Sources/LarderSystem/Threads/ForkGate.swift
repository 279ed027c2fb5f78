public import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

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

  @inlinable @inline(__always)
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    gate.enter()
    defer { gate.leave() }
    return try mutex.withLock(body)
  }
}
