// In builds for the explorer of schedules and for the thread sanitizer, types of LarderSystem
// replace the standard library's. The compiler chooses neither of two imported types of one name,
// but prefers the module's own type to an imported one.
#if LARDER_SCHEDULES || LARDER_THREAD_SANITIZER
  public import LarderSystem

  @usableFromInline
  typealias Mutex<Value: ~Copyable> = LarderSystem.Mutex<Value>
#endif
#if LARDER_SCHEDULES
  @usableFromInline
  typealias Atomic<Value: Sendable> = LarderSystem.Atomic<Value>
#endif
