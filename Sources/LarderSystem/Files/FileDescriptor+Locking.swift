import LarderLibc

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

// Locks on bytes, beyond the file's end too. They belong to the open file, as those above.
// See: man 2 fcntl, open file description locks.
extension FileDescriptor {
  /// Locks bytes without waiting, or unlocks them with nil; returns `false` if another open file
  /// holds a lock on one. This one gets them twice, and one unlock ends both. Corresponds to
  /// `fcntl(F_OFD_SETLK)`.
  @discardableResult
  package func setLock(
    _ lock: FileLock?, bytes start: UInt64, _ count: Int
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      // Both numbers are of linux/fcntl.h, which Glibc's module hides.
      _ = try byteLock(37, lock.map { $0 == .shared ? F_RDLCK : F_WRLCK } ?? F_UNLCK, start, count)
      return true
    } catch .wouldBlock {
      return false
    }
  }

  /// Returns a lock of another open file on some of these bytes, and on which of them; nil if there
  /// is none. Of several it may be any. Corresponds to `fcntl(F_OFD_GETLK)`.
  package func lock(
    in bytes: Range<UInt64>
  ) throws(Errno) -> (bytes: Range<UInt64>, isShared: Bool)? {
    let lock = try byteLock(36, F_WRLCK, bytes.lowerBound, bytes.count)
    if lock.l_type == F_UNLCK { return nil }
    let start = UInt64(max(0, lock.l_start))
    let end = lock.l_len > 0 ? start + UInt64(lock.l_len) : bytes.upperBound
    let found = (start..<max(start, end)).clamped(to: bytes)
    return found.isEmpty ? nil : (found, lock.l_type == F_RDLCK)
  }

  private func byteLock(
    _ command: Int32, _ kind: Int32, _ start: UInt64, _ count: Int
  ) throws(Errno) -> flock {
    var lock = flock(
      l_type: Int16(kind), l_whence: Int16(SEEK_SET), l_start: off_t(start), l_len: off_t(count),
      l_pid: 0)
    _ = try system(.fcntl, faults) { unsafe fcntl(rawValue, command, &lock) }
    return lock
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
    // If it fails, closing the descriptor ends the lock, unless there is such a child.
    do throws(Errno) { try file.unlock() } catch {}
  }
}

/// The holders of locks by `/proc/locks`. See: man 5 proc_locks.
package enum LockTable {
  /// Returns the processes that hold a `flock` lock on a file, as far as this process can see them:
  /// those of other namespaces are not listed. Only reads.
  package static func holders(of file: FileIdentity) -> [Int] {
    holders(of: file, in: SystemEnvironment.text(ofFile: "/proc/locks") ?? "")
  }

  /// Returns the holders by a text in the form of `/proc/locks`.
  ///
  /// A line is `1: FLOCK  ADVISORY  WRITE 708 08:01:786446 0 EOF`: the device in hexadecimal, the
  /// inode in decimal digits. A line of a process that waits for its lock has `->` after the
  /// number.
  static func holders(of file: FileIdentity, in text: String) -> [Int] {
    let lines = text.split(separator: "\n").map {
      $0.split(separator: " ", omittingEmptySubsequences: true)
    }
    let expected = DeviceNumber(file.device)
    let locks: [(process: Int, isSameDevice: Bool)] = lines.compactMap { words in
      guard words.count >= 6, words[1] == "FLOCK", let process = Int(words[4]), process > 0 else {
        return nil
      }
      let place = words[5].split(separator: ":")
      guard place.count == 3, UInt64(place[2]) == file.inode else { return nil }
      let device = (UInt64(place[0], radix: 16), UInt64(place[1], radix: 16))
      return (process, device == (expected.major, expected.minor))
    }
    // Some file systems show another device in a file's status than in this table.
    let exact = locks.filter(\.isSameDevice)
    return (exact.isEmpty ? locks : exact).reduce(into: []) { processes, lock in
      if !processes.contains(lock.process) { processes.append(lock.process) }
    }
  }
}

/// The two halves of a device number, as the tables in `/proc` show them.
struct DeviceNumber: Sendable, Hashable {
  let major: UInt64
  let minor: UInt64

  /// Splits a device number of `stat`. Corresponds to `gnu_dev_major` and `gnu_dev_minor`; source:
  /// glibc's sys/sysmacros.h.
  init(_ device: UInt64) {
    major = device >> 8 & 0xfff | device >> 32 & ~0xfff
    minor = device & 0xff | device >> 12 & ~0xff
  }
}
