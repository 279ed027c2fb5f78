#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Starts a detached thread that runs a closure. Corresponds to `pthread_create`.
///
/// - Throws: `EAGAIN` when the process or the system can have no more threads. See: man 3
///   pthread_create, which returns its error instead of setting errno.
package func startThread(_ body: @escaping @Sendable () -> Void) throws(Errno) {
  #if LARDER_SCHEDULES
    if Scheduler.isActive { return Scheduler.spawn("thread", body) }
  #endif
  try startSystemThread(body)
}

/// Starts a detached thread of the system, also while a scheduler runs the library's threads.
func startSystemThread(_ body: @escaping @Sendable () -> Void) throws(Errno) {
  // Retained here, and released by the thread, or below if it cannot be started.
  let box = unsafe Unmanaged.passRetained(ThreadBody(body))
  var attributes = pthread_attr_t()
  unsafe pthread_attr_init(&attributes)
  unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  defer { unsafe pthread_attr_destroy(&attributes) }
  var thread = pthread_t()
  let result = unsafe pthread_create(
    &thread, &attributes,
    { argument in
      // A thread of a library takes no signals, because they are for the host program.
      var all = sigset_t()
      unsafe sigfillset(&all)
      unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
      let opaque = unsafe argument.unsafelyUnwrapped
      unsafe Unmanaged<ThreadBody>.fromOpaque(opaque).takeRetainedValue().run()
      return nil
    }, box.toOpaque())
  if result != 0 {
    unsafe box.release()
    throw Errno(rawValue: result)
  }
}

/// The identity of a thread among those alive. Corresponds to `pthread_self`.
package struct ThreadIdentity: Sendable, Hashable {
  private let number: UInt

  /// The identity of the calling thread.
  package static var current: ThreadIdentity {
    #if LARDER_SCHEDULES
      ThreadIdentity(number: UInt(Scheduler.thread))
    #elseif canImport(Glibc)
      ThreadIdentity(number: UInt(pthread_self()))
    #else
      ThreadIdentity(number: UInt(bitPattern: pthread_self()))
    #endif
  }
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}
