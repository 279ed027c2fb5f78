#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// An open file, closed when the value ends.
package struct FileDescriptor: ~Copyable, Sendable {
  package let rawValue: Int32
  package let faults: FaultInjector?
  // Not in the initialiser of lent descriptors alone: `release()` ends the ownership too.
  private var isOwned = true
  #if LARDER_SCHEDULES
    private var serial: UInt64 = 0
  #endif

  /// Takes an open descriptor over.
  ///
  /// - Parameter faults: the plan that every call through this descriptor asks; nil outside of
  ///   tests.
  init(rawValue: Int32, faults: FaultInjector?) {
    self.rawValue = rawValue
    self.faults = faults
    #if LARDER_SCHEDULES
      if rawValue >= 0 { serial = ScheduledFiles.open(rawValue) }
    #endif
  }

  /// Lends a descriptor that stays open when the value ends, such as standard output.
  init(lending rawValue: Int32) {
    self.rawValue = rawValue
    faults = nil
    isOwned = false
  }

  deinit {
    // The outcome is of no use: on Linux the descriptor is gone either way. See: man 2 close.
    // Not repeated on EINTR: the number may be another file's by then.
    #if LARDER_SCHEDULES
      // Not what a killed process had, whose number may be another file's by now.
      if isOwned, !ScheduledFiles.close(rawValue, serial) { return }
    #endif
    if isOwned { _ = close(rawValue) }
  }

  /// Hands the descriptor to the caller, who closes it.
  ///
  /// For what takes a descriptor over, such as `fdopendir`.
  consuming func release() -> Int32 {
    isOwned = false
    #if LARDER_SCHEDULES
      _ = ScheduledFiles.close(rawValue, serial)
    #endif
    return rawValue
  }
}

extension FileDescriptor {
  /// Tells what the system knows of the file. Corresponds to `fstat`.
  package func status() throws(Errno) -> FileStatus {
    var buffer = stat()
    _ = try system(.fstat, faults) { unsafe fstat(rawValue, &buffer) }
    return FileStatus(buffer)
  }

  /// Tells which kind of file system the file is on, by its number. Corresponds to `fstatfs`.
  func fileSystemNumber() throws(Errno) -> UInt64 {
    // A `struct statfs` has 120 bytes on 64-bit platforms; its first word is the number.
    var buffer = [UInt](repeating: 0, count: 32)
    _ = try system(.fstatfs, faults) { unsafe c_fstatfs(rawValue, &buffer) }
    return UInt64(buffer[0])
  }

  /// Sets the two stamps; nil leaves one as it is. Corresponds to `futimens`.
  ///
  /// Moves the change time as well, to the system's own clock: that is how everybody who judged the
  /// file notices. A filesystem clamps what it cannot hold and says nothing. See: man 2 utimensat.
  ///
  /// - Throws: `.notPermitted` when the caller is neither the owner nor privileged, since setting a
  ///   given time is the owner's right even where others may write.
  package func setTimes(access: Timestamp?, modification: Timestamp?) throws(Errno) {
    let times = [2 of CTimespec] { index in
      (index == 0 ? access : modification)?.timespec ?? Timestamp.omitted
    }
    _ = try system(.futimens, faults) {
      unsafe times.span.withUnsafeBufferPointer { unsafe futimens(rawValue, $0.baseAddress) }
    }
    noteChange()
  }

  /// Sets the permissions whatever the umask says. Corresponds to `fchmod`.
  // Counted as `fcntl`, like the calls below it that no test fails one by one.
  package func setPermissions(_ mode: UInt32) throws(Errno) {
    _ = try system(.fcntl, faults) { fchmod(rawValue, mode_t(mode)) }
    noteChange()
  }

  /// Sets the owner and the group. Corresponds to `fchown`.
  package func setOwner(_ owner: UInt32, group: UInt32) throws(Errno) {
    _ = try system(.fcntl, faults) { fchown(rawValue, uid_t(owner), gid_t(group)) }
  }

  /// Writes the data, not the metadata, to the disk. Corresponds to `fdatasync`.
  ///
  /// The file's length counts as data; the stamps and the attributes do not have to. What is
  /// published without them after a power cut is a miss, never a wrong value.
  package func synchronizeData() throws(Errno) {
    _ = try system(.fdatasync, faults) { fdatasync(rawValue) }
  }

  /// Writes data and metadata to the disk. Corresponds to `fsync`.
  ///
  /// Of a directory, this is what makes a new name, a rename or a removal outlast a power cut.
  package func synchronize() throws(Errno) {
    _ = try system(.fsync, faults) { fsync(rawValue) }
  }

  /// Sets the length. Corresponds to `ftruncate`.
  ///
  /// Leaves the offset where it is, which may then lie beyond the end.
  package func truncate(to byteCount: Int) throws(Errno) {
    _ = try system(.ftruncate, faults) { ftruncate(rawValue, off_t(byteCount)) }
  }
}

extension FileDescriptor {
  /// Goes to an offset, where the next read or write begins. Corresponds to `lseek`.
  package func seek(to offset: Int) throws(Errno) {
    _ = try system(.fcntl, faults) { lseek(rawValue, off_t(offset), SEEK_SET) }
  }
}

extension FileDescriptor {
  /// Takes note, in builds for the schedule explorer, that the file's change time has moved.
  @inline(__always)
  func noteChange() {
    #if LARDER_SCHEDULES
      ScheduledFiles.touch(rawValue)
    #endif
  }
}
