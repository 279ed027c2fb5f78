import LarderLibc
import Synchronization

/// A closure that a thread runs.
package typealias Job = @Sendable () -> Void

/// Runs a closure on a thread of the library's that is idle, or on a new one. A thread that hangs
/// is not idle, so it takes no thread from other callers.
///
/// - Throws: As ``startThread(_:)``.
package func runOnThread(_ job: @escaping Job) throws(Errno) {
  if IdleThread.run(job) { return }
  try startThread { IdleThread(job).work() }
}

/// A thread that runs one job after the other, and ends after five seconds without one.
private final class IdleThread: Sendable {
  /// The threads of the process that wait for a job, the last to wait at the end.
  private static let waiting = PerProcess { ForkSafeMutex<[IdleThread]>([]) }
  /// Long enough to outlast a pause between bursts.
  private static let idleTime = Duration.seconds(5)

  private let job: ForkSafeMutex<Job?>
  private let given = EventCount()

  init(_ job: @escaping Job) { self.job = ForkSafeMutex(job) }

  /// Gives a job to a waiting thread; returns false if there is none.
  static func run(_ job: @escaping Job) -> Bool {
    guard let thread = waiting.own.value.withLock({ $0.popLast() }) else { return false }
    thread.job.withLock { $0 = job }
    thread.given.signal()
    return true
  }

  func work() {
    while runNext() { Self.waiting.own.value.withLock { $0.append(self) } }
  }

  /// Waits for a job, runs it, and releases what it holds; returns false if the thread must end.
  private func runNext() -> Bool {
    guard let job = takeJob() else { return false }
    job()
    return true
  }

  /// Waits for a job; returns nil if the thread must end.
  private func takeJob() -> Job? {
    var end: MonotonicTime? = .now.advanced(by: Self.idleTime)
    while true {
      let ticket = given.ticket()
      if let job = job.withLock({ exchange(&$0, with: nil) }) { return job }
      if let known = end, known <= .now {
        if stopsWaiting() { return nil }
        // A caller has taken this thread and is about to give it the job.
        end = nil
      } else {
        given.wait(ticket, until: end)
      }
    }
  }

  /// Leaves the waiting threads; returns false if a caller has taken this one from them.
  private func stopsWaiting() -> Bool {
    Self.waiting.own.value.withLock { waiting in
      guard let index = waiting.firstIndex(where: { $0 === self }) else { return false }
      waiting.remove(at: index)
      return true
    }
  }
}

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
      // A thread of a library takes no signals, because they are for the host program, but those of
      // its own faults: a blocked one ends the process without the host's report of the crash.
      var all = sigset_t()
      unsafe sigfillset(&all)
      for signal in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS] {
        unsafe sigdelset(&all, signal)
      }
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
  let number: UInt

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
