import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A mutex that a forked child can use as its parent does.
///
/// `Synchronization.Mutex` keeps the number of the thread that holds it, and each thread remembers
/// its own. The thread that forked goes on in the child under another number and does not know: as
/// soon as a second thread waits for what it holds, the kernel finds no such owner, and the child
/// ends with "Unknown error occurred while attempting to acquire a Mutex". That is Swift 6.3; a
/// mutex that nobody waits for works. So in a child, and only there, threads wait before it.
struct ForkSafeMutex<Value: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  /// Whether a thread of a forked child holds the mutex or is about to.
  private let gate = Atomic<Bool>(false)

  init(_ value: consuming sending Value) {
    mutex = Mutex(value)
  }

  func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // A forked child is one from its first instruction on, so that all of its threads agree.
    let isGated = ProcessIdentity.forkCount > 0
    if isGated { passGate() }
    defer { if isGated { gate.store(false, ordering: .releasing) } }
    return try mutex.withLock(body)
  }

  /// Waits without the kernel's knowing: what is guarded is held for microseconds, and a child that
  /// goes on using the library is rare.
  private func passGate() {
    var attempts = 0
    while gate.exchange(true, ordering: .acquiring) {
      attempts += 1
      if attempts < 64 { sched_yield() } else { usleep(50) }
    }
  }
}
