#if LARDER_SCHEDULES
  import Synchronization

  /// A lock whose waits go through the scheduler.
  final class ScheduledLock: Sendable {
    private let isHeld = Synchronization.Atomic<Bool>(false)
    /// The thread that has it, or had it last.
    private let holder = Synchronization.Atomic<Int>(-1)
    private let object = Scheduler.makeObject()

    func acquire(_ type: Any.Type?, file: StaticString, line: Int) {
      Scheduler.point(.lock, on: object, type, file: file, line: line)
      while isHeld.load(ordering: .relaxed) {
        Scheduler.help(holder.load(ordering: .relaxed))
        Scheduler.wait(for: ObjectIdentifier(self), "a lock", until: nil)
      }
      isHeld.store(true, ordering: .relaxed)
      holder.store(Scheduler.running ?? -1, ordering: .relaxed)
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
    /// The type of the value, if the runtime can name it.
    private let type: Any.Type?

    @usableFromInline
    package init(_ value: consuming sending Value) {
      mutex = Synchronization.Mutex(value)
      type = nil
    }

    @usableFromInline
    package func withLock<Result: ~Copyable, Failure: Error>(
      file: StaticString = #fileID, line: Int = #line,
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      lock.acquire(type, file: file, line: line)
      defer { lock.release() }
      return try mutex.withLock(body)
    }
  }

  @usableFromInline
  package typealias ForkSafeMutex = Mutex

  extension Mutex where Value: Copyable {
    @usableFromInline
    package init(_ value: consuming sending Value) {
      mutex = Synchronization.Mutex(value)
      type = Value.self
    }
  }

  /// The values of the processes of a schedule, one for each.
  @usableFromInline
  package struct ScheduledOwn<Own: AnyObject & Sendable>: ~Copyable, Sendable {
    private struct State {
      var schedule = 0
      var owns: [Int: Own] = [:]
    }

    private let state = Synchronization.Mutex(State())

    @usableFromInline
    init() {}

    /// The existing value of the running thread's process, if any.
    var known: Own? {
      let process = Scheduler.process
      return state.withLock { $0.owns[process] }
    }

    /// Keeps a new value for the running thread's process.
    func keep(_ own: Own) -> Own {
      let (process, schedule) = (Scheduler.process, Scheduler.number)
      let old = state.withLock { state -> [Int: Own] in
        var old: [Int: Own] = [:]
        // The values of earlier schedules are no longer used. Process numbers are never reused.
        if state.schedule != schedule {
          old = state.owns
          state.owns = [:]
          state.schedule = schedule
        }
        state.owns[process] = own
        return old
      }
      // Killed threads may still be inside them, so they are never released.
      for own in old.values { _ = unsafe Unmanaged.passRetained(own) }
      return own
    }
  }
#endif
