import LarderLibc
import LarderSystem

/// The signals that end the process.
enum EndingSignals {
  private static let removals = ForkSafeMutex<[@Sendable () -> Void]>([])

  /// Lets a signal that ends the process remove something first, if it is there still.
  ///
  /// A thread of its own waits for the signals, because a handler could not remove anything. To be
  /// called on the main thread; no other takes signals. Those that the parent process has made
  /// ignored stay so. Corresponds to `pthread_sigmask` and `sigwait`.
  static func remove(by removal: @escaping @Sendable () -> Void) {
    let count = removals.withLock {
      $0.append(removal)
      return $0.count
    }
    if count > 1 { return }
    var signals = sigset_t()
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] where !isIgnored(number) {
      unsafe sigaddset(&signals, number)
    }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    do throws(Errno) {
      try startThread { [signals] in
        var (signals, number) = (signals, Int32(0))
        unsafe sigwait(&signals, &number)
        // Again, because the command goes on and may make one more file.
        for _ in 0..<10 { for remove in removals.withLock(\.self) { remove() } }
        // As if it came now: the keyboard's handler restores the terminal.
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
      }
    } catch {
      // Then all of it stays after a signal.
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
