#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// How a file is locked among processes that ask.
package enum FileLock: Sendable {
  /// Any number of holders, while nobody has it exclusively.
  case shared
  /// One holder and nobody else.
  case exclusive

  fileprivate var operation: Int32 { self == .shared ? LOCK_SH : LOCK_EX }
}

extension FileDescriptor {
  /// Locks the open file without waiting; false when somebody else holds it.
  ///
  /// The lock belongs to the open file: it ends when the last descriptor for it is closed. A failed
  /// change from shared to exclusive loses the shared one. Corresponds to `flock(LOCK_NB)`.
  ///
  /// A forked child shares its parent's open file, so that the lock ends only when both have closed
  /// it. See: man 2 flock.
  package func tryLock(_ lock: FileLock) throws(Errno) -> Bool {
    do throws(Errno) {
      _ = try system(.flock, faults) { flock(rawValue, lock.operation | LOCK_NB) }
      return true
    } catch .wouldBlock {
      return false
    }
  }

  /// Locks the open file, and waits while somebody else holds it. Corresponds to `flock`.
  ///
  /// For what is held for a moment only, and never on an entry.
  func lock(_ lock: FileLock) throws(Errno) {
    #if LARDER_SCHEDULES
      while try !tryLock(lock) { Scheduler.sleep(milliseconds: 1) }
    #else
      _ = try system(.flock, faults) { flock(rawValue, lock.operation) }
    #endif
  }

  /// Gives the lock up. Corresponds to `flock(LOCK_UN)`.
  package func unlock() throws(Errno) {
    _ = try system(.flock, faults) { flock(rawValue, LOCK_UN) }
  }
}
