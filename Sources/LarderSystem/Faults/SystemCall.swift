/// The system calls that a test can make fail, with the names of their C functions.
package enum SystemCall: String, Sendable, CaseIterable {
  case cachestat, close, eventfd, faccessat, fcntl, fdatasync, fgetxattr, flock, fstat, fstatat
  case fstatfs, fstatvfs, fsync, futimens, fsetxattr, ftruncate, inotify, ioctl, linkat, mkdirat
  case open, openat, openat2, poll, preadv2, read, readdir, renameat, unlinkat, write
  case copyFileRange = "copy_file_range"
}

/// Makes a system call, and repeats it if a signal interrupted it.
///
/// Every call of the library goes through this function, so that the loop for EINTR exists once and
/// a test can make any call fail.
@inline(__always)
package func system<Result: FixedWidthInteger & SignedInteger>(
  _ call: SystemCall, _ faults: FaultInjector?, file: StaticString = #fileID, line: UInt = #line,
  _ body: () -> Result
) throws(Errno) -> Result {
  #if LARDER_SCHEDULES
    if call.isPoint { Scheduler.point(.call(call), file: file, line: Int(line)) }
  #endif
  while true {
    // Nil outside of tests, where it costs one comparison a call.
    if let errno = faults?.strike(call, file: file, line: line) {
      if errno == .interrupted { continue }
      throw errno
    }
    let result = body()
    #if LARDER_SCHEDULES
      if call.isPoint { Scheduler.noteKernelChange() }
      if call.changesFiles, result != -1 { Scheduler.noteProgress() }
    #endif
    if result != -1 { return result }
    let errno = Errno.current
    if errno != .interrupted { throw errno }
  }
}
