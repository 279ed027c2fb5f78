import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Who this process is, as files and locks see it.
package enum ProcessIdentity {
  /// The process's number. Corresponds to `getpid`.
  package static var pid: Int32 { getpid() }

  /// The user whose rights count. Corresponds to `geteuid`.
  static var user: UInt32 { geteuid() }

  /// The group whose rights count. Corresponds to `getegid`.
  static var group: UInt32 { getegid() }

  /// How many forks lie between the program's start and this process.
  ///
  /// A cache remembers the number at opening; another one now means that this is a forked child,
  /// which holds its parent's locks and none of its threads. Corresponds to `pthread_atfork`.
  static var forkCount: UInt32 {
    _ = forkHook
    return forks.load(ordering: .relaxed)
  }

  private static let forks = Atomic<UInt32>(0)

  private static let forkHook: Int32 = pthread_atfork(nil, nil) {
    ProcessIdentity.forks.wrappingAdd(1, ordering: .relaxed)
  }
}
