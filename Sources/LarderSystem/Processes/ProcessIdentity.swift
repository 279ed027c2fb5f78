import LarderLibc
import Synchronization

/// The identity of this process for files and locks.
@usableFromInline
package enum ProcessIdentity {
  /// The process's number. Corresponds to `getpid`, which is called once in each process.
  ///
  /// A forked child asks again, because it must not write under its parent's number. A child by a
  /// raw clone, which no hook sees, gets its parent's number; so a file under that number is made
  /// only if there is none.
  package static var pid: Int32 {
    #if LARDER_SCHEDULES
      Int32(1_000 + Scheduler.processNumber)
    #else
      let fork = UInt64(forkCount) + 1
      let known = knownPid.load(ordering: .relaxed)
      if known >> 32 == fork { return Int32(truncatingIfNeeded: known) }
      let pid = getpid()
      knownPid.store(fork << 32 | UInt64(UInt32(bitPattern: pid)), ordering: .relaxed)
      return pid
    #endif
  }

  /// The number of the process in the lower half, and in the upper half one more than the forks
  /// before it; 0 as long as nothing has asked.
  private static let knownPid = Atomic<UInt64>(0)

  /// The effective user, the owner of files that the process makes. Corresponds to `geteuid`.
  package static var user: UInt32 { geteuid() }

  /// The effective group. Corresponds to `getegid`.
  package static var group: UInt32 { getegid() }

  /// Whether the process has a group's rights. Corresponds to `getegid` and `getgroups`.
  package static func isMember(of group: UInt32) -> Bool {
    if group == self.group { return true }
    var groups = [gid_t](repeating: 0, count: 65_536)
    let count = unsafe getgroups(Int32(groups.count), &groups)
    return count > 0 && groups[..<Int(count)].contains(group)
  }

  /// The number of forks between the program's start and this process.
  ///
  /// A cache remembers the number when it is opened. If it differs later, this is a forked child,
  /// which has its parent's locks and none of its threads. Corresponds to `pthread_atfork`.
  @usableFromInline
  package static var forkCount: UInt32 {
    _ = forkHook
    return forks.load(ordering: .relaxed)
  }

  private static let forks = Atomic<UInt32>(0)

  // Registered once per process and never removed. Only `fork` runs it: a raw clone, or vfork
  // followed by exec, does not, and needs no protection. See: man 3 pthread_atfork.
  private static let forkHook: Int32 = pthread_atfork(nil, nil) {
    ProcessIdentity.forks.wrappingAdd(1, ordering: .relaxed)
  }
}
