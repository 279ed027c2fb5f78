#if LARDER_SCHEDULES
  import Synchronization

  /// A count at which threads of a schedule wait.
  package final class WaitableCount: Sendable {
    private let count = Atomic<UInt32>(0)

    var value: UInt32 { count.load(ordering: .sequentiallyConsistent) }

    func add() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    func wakeAll() {
      Scheduler.point(.signal)
      Scheduler.wake(ObjectIdentifier(self))
    }

    /// No thread runs between the caller's look at the count and this, as with a futex.
    func wait(while value: UInt32, until end: MonotonicTime?) {
      _ = Scheduler.wait(for: ObjectIdentifier(self), "a signal", until: end?.nanoseconds)
    }
  }

  extension ScheduledOwn {
    /// Returns the value of the running thread's process.
    func own<Value>(_ make: () -> sending Value) -> Own
    where Own == PerProcess<Value>.Own, Value: ~Copyable {
      if let known { return known }
      return keep(Own(make()))
    }
  }

  extension SystemCall {
    /// Whether the call changes what other calls find, if it succeeds.
    var changesFiles: Bool {
      switch self {
      case .fsetxattr, .ftruncate, .futimens, .linkat, .mkdirat, .renameat, .unlinkat, .write: true
      default: false
      }
    }

    /// Whether the call can show one thread another's effects, or make it wait.
    var isPoint: Bool {
      switch self {
      case .close, .copyFileRange, .eventfd, .fgetxattr, .fstatfs, .fstatvfs, .fsetxattr:
        false
      default: true
      }
    }
  }

  /// See: man 3 backtrace (execinfo.h).
  @_extern(c, "backtrace")
  func c_backtrace(
    _ buffer: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ size: Int32
  ) -> Int32

  /// See: man 2 sched_setaffinity.
  @_extern(c, "sched_getaffinity")
  func c_sched_getaffinity(
    _ process: Int32, _ byteCount: Int, _ processors: UnsafeMutablePointer<UInt64>
  ) -> Int32

  /// See: man 2 sched_setaffinity.
  @_extern(c, "sched_setaffinity")
  func c_sched_setaffinity(
    _ process: Int32, _ byteCount: Int, _ processors: UnsafePointer<UInt64>
  ) -> Int32

  /// See: man 3 dladdr (dlfcn.h), which fills four words: file, base, name and address of a symbol.
  @_extern(c, "dladdr")
  func c_dladdr(_ address: UnsafeRawPointer, _ info: UnsafeMutablePointer<UInt>) -> Int32

  /// Returns the readable form of a symbol, to be freed by the caller. From Swift's standard
  /// library.
  @_extern(c, "swift_demangle")
  func c_demangle(
    _ name: UnsafePointer<CChar>, _ count: Int, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
  ) -> UnsafeMutablePointer<CChar>?

  /// Returns the number of the task of a job. From Swift's library of tasks.
  @_extern(c, "swift_task_getJobTaskId")
  func c_jobTask(_ job: UnsafeRawPointer) -> UInt64

  /// Cancels a task. From Swift's library of tasks.
  @_extern(c, "swift_task_cancel")
  func c_cancel(_ task: UnsafeRawPointer)
#endif
