import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Where the threads of a forked child wait before a mutex, instead of at it.
///
/// `Synchronization.Mutex` keeps the number of the thread that holds it, and each thread remembers
/// its own. The thread that forked goes on in the child under another number and does not know: as
/// soon as a second thread waits for what it holds, the kernel finds no such owner, and the child
/// ends with "Unknown error occurred while attempting to acquire a Mutex". That is Swift 6.3; a
/// mutex that nobody waits for works. Everywhere but in a child, a gate stands open.
@usableFromInline
package struct ForkGate: ~Copyable, Sendable {
  /// Whether it was made in a forked child. What a child inherits stays without a gate: threads
  /// that it does not have may hold that.
  @usableFromInline
  let isInChild = ProcessIdentity.forkCount > 0
  private let isTaken = Atomic<Bool>(false)

  @usableFromInline
  package init() {}

  /// Waits until no other thread is past the gate.
  @inlinable @inline(__always)
  package func enter() {
    if isInChild { take() }
  }

  /// Lets the next thread in.
  @inlinable @inline(__always)
  package func leave() {
    if isInChild { giveBack() }
  }

  /// Waits without the kernel's knowing: what is guarded is held for microseconds, and a child that
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
