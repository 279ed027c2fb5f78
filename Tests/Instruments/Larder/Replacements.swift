// Types of LarderSystem replace types of the standard library. If two imported types have one
// name, the compiler chooses neither; it prefers the module's own type to an imported one.
#if LARDER_SCHEDULES || LARDER_THREAD_SANITIZER
  public import LarderSystem

  @usableFromInline
  typealias Mutex<Value: ~Copyable> = LarderSystem.Mutex<Value>
#endif
#if LARDER_SCHEDULES
  @usableFromInline
  typealias Atomic<Value: Sendable> = LarderSystem.Atomic<Value>

  extension Task {
    /// Takes the place of the standard library's.
    func cancel() { Scheduler.cancel(self) }
  }
#endif
