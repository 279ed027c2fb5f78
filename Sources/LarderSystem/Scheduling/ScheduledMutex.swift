#if LARDER_SCHEDULES
  import Synchronization

  /// A lock whose waits go through the scheduler.
  final class ScheduledLock: Sendable {
    private let isHeld = Synchronization.Atomic<Bool>(false)

    func acquire() {
      Scheduler.point(.lock)
      while isHeld.load(ordering: .relaxed) {
        Scheduler.wait(for: ObjectIdentifier(self), "a lock", until: nil)
      }
      isHeld.store(true, ordering: .relaxed)
    }

    func release() {
      isHeld.store(false, ordering: .relaxed)
      Scheduler.wake(ObjectIdentifier(self))
    }
  }

  /// A replacement for the standard library's mutex in builds for the schedule explorer.
  @usableFromInline
  package struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Synchronization.Mutex<Value>
    private let lock = ScheduledLock()

    @usableFromInline
    package init(_ value: consuming sending Value) {
      mutex = Synchronization.Mutex(value)
    }

    @usableFromInline
    package func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      lock.acquire()
      defer { lock.release() }
      return try mutex.withLock(body)
    }
  }
#endif
