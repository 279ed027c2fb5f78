import LarderLibc

/// An open file, closed when the value ends.
package struct FileDescriptor: ~Copyable, Sendable {
  package let rawValue: Int32
  package let faults: FaultInjector?
  // A variable, because `release()` ends the ownership too.
  private var isOwned = true
  #if LARDER_SCHEDULES
    private var serial: UInt64 = 0
  #endif

  /// Takes ownership of an open descriptor.
  ///
  /// - Parameter faults: The faults of calls through this descriptor; nil outside of tests.
  package init(rawValue: Int32, faults: FaultInjector?) {
    self.rawValue = rawValue
    self.faults = faults
    #if LARDER_SCHEDULES
      if rawValue >= 0 { serial = ScheduledFiles.open(rawValue) }
    #endif
  }

  /// Borrows a descriptor that stays open when the value ends, such as standard output.
  package init(lending rawValue: Int32) {
    self.rawValue = rawValue
    faults = nil
    isOwned = false
  }

  deinit {
    // The result is ignored, because on Linux the descriptor is closed in any case. See: man 2
    // close. Not repeated on EINTR, because the number may belong to another file by then.
    #if LARDER_SCHEDULES
      // A killed process's descriptor is not closed: its number may belong to another file by now.
      if isOwned, !ScheduledFiles.close(rawValue, serial) { return }
    #endif
    if isOwned { _ = close(rawValue) }
  }

  /// Passes ownership of the descriptor to the caller.
  ///
  /// For functions that take a descriptor over, such as `fdopendir`.
  consuming func release() -> Int32 {
    isOwned = false
    #if LARDER_SCHEDULES
      _ = ScheduledFiles.close(rawValue, serial)
    #endif
    return rawValue
  }
}

extension FileDescriptor {
  /// Returns the status of the file. Corresponds to `fstat`.
  package func status() throws(Errno) -> FileStatus {
    var buffer = stat()
    _ = try system(.fstat, faults) { unsafe fstat(rawValue, &buffer) }
    return FileStatus(buffer, faults)
  }

  /// Returns the number of the file system that the file is on. Corresponds to `fstatfs`.
  func fileSystemNumber() throws(Errno) -> UInt64 {
    // A `struct statfs` has 120 bytes on 64-bit platforms; its first word is the number.
    var buffer = [UInt](repeating: 0, count: 32)
    _ = try system(.fstatfs, faults) { unsafe c_fstatfs(rawValue, &buffer) }
    return UInt64(buffer[0])
  }

  /// Sets the two stamps; nil leaves one unchanged. Corresponds to `futimens`.
  ///
  /// Also moves the change time, to the system's own clock, which shows a process that checked the
  /// file that it has changed. A file system clamps a time outside of its range without an error.
  /// See: man 2 utimensat.
  ///
  /// - Throws: `.notPermitted` when the caller is neither the owner nor privileged, because only
  ///   the owner may set a given time, even if other users may write.
  package func setTimes(access: Timestamp?, modification: Timestamp?) throws(Errno) {
    let kept = faults?.stampKept(of: modification) ?? modification
    let times = [2 of CTimespec] { index in
      (index == 0 ? access : kept)?.timespec ?? Timestamp.omitted
    }
    _ = try system(.futimens, faults) {
      unsafe times.span.withUnsafeBufferPointer { unsafe futimens(rawValue, $0.baseAddress) }
    }
    noteChange()
  }

  /// Sets the permissions, regardless of the umask. Corresponds to `fchmod`.
  // Counted as `fcntl`, like the calls below that no test makes fail one by one.
  package func setPermissions(_ mode: UInt32) throws(Errno) {
    _ = try system(.fcntl, faults) { fchmod(rawValue, mode_t(mode)) }
    noteChange()
  }

  /// Sets the owner and the group. Corresponds to `fchown`.
  package func setOwner(_ owner: UInt32, group: UInt32) throws(Errno) {
    _ = try system(.fcntl, faults) { fchown(rawValue, uid_t(owner), gid_t(group)) }
    noteChange()
  }

  /// Writes the data, not the metadata, to the disk. Corresponds to `fdatasync`.
  ///
  /// The file's length counts as data; the stamps and the attributes need not. An entry that loses
  /// these in a power cut is a miss, never a wrong value.
  package func synchronizeData() throws(Errno) {
    _ = try system(.fdatasync, faults) { fdatasync(rawValue) }
  }

  /// Writes data and metadata to the disk. Corresponds to `fsync`.
  ///
  /// On a directory, it makes a new name, a rename or a removal survive a power cut.
  package func synchronize() throws(Errno) {
    _ = try system(.fsync, faults) { fsync(rawValue) }
  }

  /// Sets the length. Corresponds to `ftruncate`.
  ///
  /// Does not change the offset, which may then be beyond the end.
  package func truncate(to byteCount: Int) throws(Errno) {
    _ = try system(.ftruncate, faults) { ftruncate(rawValue, off_t(byteCount)) }
  }

  /// Sets the offset at which the next read or write begins. Corresponds to `lseek`.
  package func seek(to offset: Int) throws(Errno) {
    _ = try system(.fcntl, faults) { lseek(rawValue, off_t(offset), SEEK_SET) }
  }

  /// Records, in builds for the schedule explorer, that the file's change time has moved.
  ///
  /// Called after every call that moves it, except writes and cuts: the files that are written have
  /// no name that a reader opens, and get their stamps last.
  @inline(__always)
  func noteChange() {
    #if LARDER_SCHEDULES
      ScheduledFiles.touch(rawValue)
    #endif
  }
}

/// The purpose of opening a file. Every mode is close-on-exec and follows no symbolic link.
enum OpenMode: Sendable {
  /// Reading; never waits for a FIFO's writer.
  case read
  /// Writing a file that must not exist yet.
  // Readable too, because a stamp by hand and a test read back what was written.
  case create
  /// Writing a file without a name, in a directory. See: man 2 open, O_TMPFILE.
  case createUnnamed
  /// Writing into an existing file; never waits for a FIFO's reader.
  case rewrite
  /// A directory, for reading its names.
  case directory

  /// The flags of `open`. O_CLOEXEC in every mode, because a program that the host starts must not
  /// hold the directory's lock. O_NOFOLLOW except for directories, whose paths the caller chose.
  var flags: Int32 {
    let common = O_CLOEXEC | O_NOFOLLOW
    return switch self {
    case .read: common | O_RDONLY | O_NONBLOCK
    case .create: common | O_RDWR | O_CREAT | O_EXCL
    case .rewrite: common | O_RDWR | O_NONBLOCK
    case .createUnnamed: O_CLOEXEC | O_RDWR | Self.temporaryFile
    case .directory: O_CLOEXEC | O_RDONLY | O_DIRECTORY
    }
  }

  // Values of asm-generic/fcntl.h, which Glibc's module lacks.
  /// Reading does not move the atime. The same on x86-64 and arm64. See: man 2 open, O_NOATIME.
  static let noAtime: Int32 = 0o1000000
  /// No access to the content. See: man 2 open, O_PATH.
  static let pathOnly: Int32 = 0o10000000
  // O_TMPFILE contains O_DIRECTORY: a kernel without it fails with EISDIR and makes no file.
  private static let temporaryFile: Int32 = 0o20000000 | O_DIRECTORY
}
