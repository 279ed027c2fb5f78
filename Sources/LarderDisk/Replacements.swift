// In builds for the explorer of schedules and for the thread sanitizer, types of LarderSystem take the
// place of the standard library's. Of two imported types of one name the compiler chooses neither;
// of an imported one and the module's own it chooses the module's own.
#if LARDER_SCHEDULES || LARDER_THREAD_SANITIZER
  public import LarderSystem

  @usableFromInline
  typealias Mutex<Value: ~Copyable> = LarderSystem.Mutex<Value>
#endif
#if LARDER_SCHEDULES
  @usableFromInline
  typealias Atomic<Value: Sendable> = LarderSystem.Atomic<Value>
#endif
