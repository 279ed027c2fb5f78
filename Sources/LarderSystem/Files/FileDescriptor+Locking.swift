#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The kind of an advisory lock on a file.
package enum FileLock: Sendable {
  /// Any number of holders, while there is no exclusive one.
  case shared
  /// One holder, and no shared ones.
  case exclusive

  fileprivate var operation: Int32 { self == .shared ? LOCK_SH : LOCK_EX }
}

extension FileDescriptor {
  /// Locks the open file without waiting; returns `false` if another open file holds the lock.
  ///
  /// The lock belongs to the open file: it ends when the last descriptor for it is closed. A failed
  /// change from shared to exclusive loses the shared lock. Corresponds to `flock(LOCK_NB)`.
  ///
  /// A forked child shares its parent's open file, so the lock ends only when both have closed it.
  /// See: man 2 flock.
  package func tryLock(_ lock: FileLock) throws(Errno) -> Bool {
    do throws(Errno) {
      _ = try system(.flock, faults) { flock(rawValue, lock.operation | LOCK_NB) }
      return true
    } catch .wouldBlock {
      return false
    }
  }

  /// Locks the open file, and waits while another open file holds the lock. Corresponds to `flock`.
  ///
  /// Only for locks that are held briefly, and never on an entry.
  func lock(_ lock: FileLock) throws(Errno) {
    #if LARDER_SCHEDULES
      while try !tryLock(lock) { Scheduler.sleep(milliseconds: 1) }
    #else
      _ = try system(.flock, faults) { flock(rawValue, lock.operation) }
    #endif
  }

  /// Releases the lock. Corresponds to `flock(LOCK_UN)`.
  package func unlock() throws(Errno) {
    _ = try system(.flock, faults) { flock(rawValue, LOCK_UN) }
  }
}

/// A file that stays locked for as long as the object lives.
package final class LockedFile: Sendable {
  let file: FileDescriptor
  private let forkCount = ProcessIdentity.forkCount

  package init(_ file: consuming FileDescriptor) {
    self.file = file
  }

  /// Unlocks the file, in the process that locked it.
  ///
  /// Closing alone would leave the lock with a child that was forked meanwhile, for as long as the
  /// child lives, because the child has a descriptor of the same open file. See: man 2 flock.
  deinit {
    guard forkCount == ProcessIdentity.forkCount else { return }
    do throws(Errno) {
      try file.unlock()
    } catch {
      // The descriptor is closed next, which ends the lock unless there is such a child.
    }
  }
}
