import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Who this process is, as files and locks see it.
@usableFromInline
package enum ProcessIdentity {
  /// The process's number. Corresponds to `getpid`.
  ///
  /// Asked anew each time, which is one system call: a forked child must not write under its
  /// parent's name.
  package static var pid: Int32 {
    #if LARDER_SCHEDULES
      Int32(1_000 + Scheduler.processNumber)
    #else
      getpid()
    #endif
  }

  /// The user whose rights count. Corresponds to `geteuid`.
  ///
  /// The effective one, which is who the kernel makes files for.
  package static var user: UInt32 { geteuid() }

  /// The group whose rights count. Corresponds to `getegid`.
  package static var group: UInt32 { getegid() }

  /// Whether the process has a group's rights. Corresponds to `getegid` and `getgroups`.
  package static func isMember(of group: UInt32) -> Bool {
    if group == self.group { return true }
    var groups = [gid_t](repeating: 0, count: 65_536)
    let count = unsafe getgroups(Int32(groups.count), &groups)
    return count > 0 && groups[..<Int(count)].contains(group)
  }

  /// How many forks lie between the program's start and this process.
  ///
  /// A cache remembers the number at opening; another one now means that this is a forked child,
  /// which holds its parent's locks and none of its threads. Corresponds to `pthread_atfork`.
  @usableFromInline
  package static var forkCount: UInt32 {
    _ = forkHook
    return forks.load(ordering: .relaxed)
  }

  private static let forks = Atomic<UInt32>(0)

  // Registered once per process and never taken back. Only fork runs it: a raw clone or vfork
  // followed by exec does not, and needs no protection. See: man 3 pthread_atfork.
  private static let forkHook: Int32 = pthread_atfork(nil, nil) {
    ProcessIdentity.forks.wrappingAdd(1, ordering: .relaxed)
  }
}
