#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// An open directory through which its files are reached by name, whatever happens to its path.
///
/// The lock that a process holds on the directory, if any, belongs to this descriptor.
package final class DirectoryHandle: Sendable {
  /// Shared by all operations. It is never read through: an offset of its own comes with
  /// `reopen()`.
  package let descriptor: FileDescriptor
  /// Which directory it is, whatever its path leads to by now.
  package let identity: FileIdentity
  /// The owner when the directory was opened.
  package let owner: UInt32
  /// The group when the directory was opened. Both decide whose files are trusted, and are not
  /// asked for again: whoever may change the owner of a directory may as well replace it.
  package let group: UInt32
  /// What it is on; a file system that does not say is taken for a local one.
  package let fileSystem: FileSystemKind

  /// Takes an open directory over.
  ///
  /// - Throws: `.notDirectory`; the descriptor is closed then.
  init(_ descriptor: consuming FileDescriptor) throws(Errno) {
    let status = try descriptor.status()
    guard status.isDirectory else { throw .notDirectory }
    identity = status.identity
    owner = status.owner
    group = status.group
    fileSystem = FileSystemKind(of: descriptor, device: status.identity.device)
    self.descriptor = descriptor
  }

  // A value of linux/fcntl.h, which Glibc's module hides. See: man 2 linkat, AT_EMPTY_PATH.
  private static let emptyPath: Int32 = 0x1000

  // As long as the object lives the number is open and cannot mean another file.
  private var raw: Int32 { descriptor.rawValue }
  var faults: FaultInjector? { descriptor.faults }

  /// Opens a directory by path. Corresponds to `open`.
  ///
  /// Follows links, since the path is the caller's own word. Everything below the directory is
  /// opened without following any.
  package static func open(path: String, faults: FaultInjector?) throws(Errno) -> DirectoryHandle {
    let descriptor = try retryingWithoutNoAtime(.directory, .directoryMovingAtime) {
      (mode) throws(Errno) in
      let raw = try system(.open, faults) { Self.cOpen(path, mode.flags) }
      return FileDescriptor(rawValue: raw, faults: faults)
    }
    return try DirectoryHandle(descriptor)
  }

  private static func cOpen(_ path: String, _ flags: Int32) -> Int32 {
    unsafe path.withCString { unsafe openat(AT_FDCWD, $0, flags, 0) }
  }
}

/// Opens with O_NOATIME and, where the system allows that only to the owner, without.
///
/// See: man 2 open, EPERM.
func retryingWithoutNoAtime(
  _ first: OpenMode, _ second: OpenMode,
  _ open: (OpenMode) throws(Errno) -> FileDescriptor
) throws(Errno) -> FileDescriptor {
  do throws(Errno) {
    return try open(first)
  } catch .notPermitted {
    // O_NOATIME is for the owner and for CAP_FOWNER. Asking first and falling back costs the others
    // one failed call; asking who owns the file would cost everybody one.
    return try open(second)
  }
}

extension DirectoryHandle {
  /// Opens a file for reading. Corresponds to `openat`.
  ///
  /// Never blocks: a FIFO in the file's place is opened at once (O_NONBLOCK), and the caller sees
  /// from its status that it is no regular file. A symbolic link fails with ELOOP, a socket with
  /// ENXIO.
  package func openForReading(_ name: FileName) throws(Errno) -> FileDescriptor {
    try retryingWithoutNoAtime(.read, .readMovingAtime) { (mode) throws(Errno) in
      try open(name, mode, permissions: 0)
    }
  }

  /// Opens the directory itself a second time, with an offset of its own.
  ///
  /// `dup` would share the offset, so that two walks at once would each see a part of the names.
  package func reopen() throws(Errno) -> FileDescriptor {
    try retryingWithoutNoAtime(.directory, .directoryMovingAtime) { (mode) throws(Errno) in
      try open(FileName("."), mode, permissions: 0)
    }
  }

  /// Makes a file that must not exist. Corresponds to `openat(O_CREAT|O_EXCL)`.
  ///
  /// - Throws: `.fileExists` when anything has the name, be it a link to nothing.
  package func create(_ name: FileName, permissions: UInt32) throws(Errno) -> FileDescriptor {
    try open(name, .create, permissions: permissions)
  }

  /// Opens a file that is there for reading and writing. Corresponds to `openat(O_RDWR)`.
  ///
  /// Never blocks and follows no link, as `openForReading`.
  package func openForWriting(_ name: FileName) throws(Errno) -> FileDescriptor {
    try open(name, .rewrite, permissions: 0)
  }

  /// Makes a file without a name. Corresponds to `openat(O_TMPFILE)`.
  ///
  /// The system takes the file back when it is closed, also after a crash. See: man 2 open,
  /// O_TMPFILE, for the filesystems that know it.
  package func createUnnamed(permissions: UInt32) throws(Errno) -> FileDescriptor {
    try open(FileName("."), .createUnnamed, permissions: permissions)
  }

  /// Opens by name below the held directory; the mode says what with which flags.
  private func open(
    _ name: FileName, _ mode: OpenMode, permissions: UInt32
  ) throws(Errno) -> FileDescriptor {
    let descriptor = try system(.openat, faults) {
      unsafe name.withCString { unsafe openat(raw, $0, mode.flags, mode_t(permissions)) }
    }
    return FileDescriptor(rawValue: descriptor, faults: faults)
  }

  /// Tells what the system knows of a name, without following a link. Corresponds to `fstatat`.
  ///
  /// - Throws: `.noSuchFile`; on NFS also `.staleHandle`, when another client removed the file.
  package func status(of name: FileName) throws(Errno) -> FileStatus {
    var buffer = stat()
    _ = try system(.fstatat, faults) {
      unsafe name.withCString { unsafe fstatat(raw, $0, &buffer, AT_SYMLINK_NOFOLLOW) }
    }
    return FileStatus(buffer)
  }

  /// Tells what the system knows of the directory a name stands for now, following links.
  package func statusFollowingLinks(of name: String) throws(Errno) -> FileStatus {
    var buffer = stat()
    _ = try system(.fstatat, faults) {
      unsafe name.withCString { unsafe fstatat(raw, $0, &buffer, 0) }
    }
    return FileStatus(buffer)
  }

  /// Opens a directory below this one; a symbolic link in its place is refused.
  package func openDirectory(_ name: String) throws(Errno) -> DirectoryHandle {
    let descriptor = try retryingWithoutNoAtime(.directory, .directoryMovingAtime) {
      (mode) throws(Errno) in
      let descriptor = try system(.openat, faults) {
        unsafe name.withCString { unsafe openat(raw, $0, mode.flags | O_NOFOLLOW, 0) }
      }
      return FileDescriptor(rawValue: descriptor, faults: faults)
    }
    return try DirectoryHandle(descriptor)
  }

  /// Makes a directory below this one. Corresponds to `mkdirat`.
  ///
  /// - Throws: `.fileExists` when anything has the name, which is no failure for a caller that lost
  ///   a race.
  package func makeDirectory(_ name: String, permissions: UInt32) throws(Errno) {
    _ = try system(.mkdirat, faults) {
      unsafe name.withCString { unsafe mkdirat(raw, $0, mode_t(permissions)) }
    }
  }

  /// Removes a file's name. Corresponds to `unlinkat`.
  ///
  /// Goes by name, for POSIX has no removal by descriptor. Who judged a file and means that one
  /// compares inode and change time first, and bears what happens between the two calls.
  ///
  /// - Throws: `.isDirectory` (on Linux EISDIR) for a directory, which is foreign and stays.
  package func unlink(_ name: FileName) throws(Errno) {
    _ = try system(.unlinkat, faults) {
      noteChange(of: name)
      return unsafe name.withCString { unsafe unlinkat(raw, $0, 0) }
    }
  }

  /// Gives a file another name, taking the place of what had it. Corresponds to `renameat`.
  ///
  /// One step for every reader: each sees the old file or the new one. An open descriptor of the
  /// old file stays readable. See: man 2 rename.
  package func rename(_ old: FileName, to new: FileName) throws(Errno) {
    _ = try system(.renameat, faults) {
      noteChange(of: new)
      noteChange(of: old)
      return unsafe old.withCString { old in
        unsafe new.withCString { new in unsafe renameat(raw, old, raw, new) }
      }
    }
  }

  /// Gives a file another name that must be free.
  ///
  /// Corresponds to `renameat2(RENAME_NOREPLACE)`; where the file system does not know that flag,
  /// as no network file system does, to `linkat` and `unlinkat`: for a moment the file has both
  /// names.
  ///
  /// - Throws: `.fileExists`.
  package func renameExclusively(_ old: FileName, to new: FileName) throws(Errno) {
    do throws(Errno) {
      _ = try system(.renameat, faults) {
        noteChange(of: old)
        return unsafe old.withCString { old in
          unsafe new.withCString { new in unsafe c_renameat2(raw, old, raw, new, 1) }
        }
      }
    } catch .invalidArgument {
      _ = try system(.linkat, faults) {
        unsafe old.withCString { old in
          unsafe new.withCString { new in unsafe linkat(raw, old, raw, new, 0) }
        }
      }
      try unlink(old)
    }
  }

  /// Gives an open file without a name its name, which must be free.
  ///
  /// Corresponds to `linkat(AT_EMPTY_PATH)`; where that needs a privilege the caller lacks, through
  /// `/proc/self/fd`. See: man 2 linkat.
  package func link(_ file: borrowing FileDescriptor, as name: FileName) throws(Errno) {
    let descriptor = file.rawValue
    do throws(Errno) {
      _ = try system(.linkat, faults) {
        unsafe name.withCString { unsafe linkat(descriptor, "", raw, $0, Self.emptyPath) }
      }
      file.noteChange()
    } catch .noSuchFile {
      // ENOENT is what a caller without CAP_DAC_READ_SEARCH gets before Linux 6.10. The way through
      // /proc needs no privilege, and gives the same ENOENT when the directory itself is gone.
      _ = try system(.linkat, faults) {
        unsafe name.withCString {
          unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", raw, $0, AT_SYMLINK_FOLLOW)
        }
      }
    }
  }

  /// Tells how many bytes the caller may still write. Corresponds to `fstatvfs`.
  ///
  /// `f_bavail` leaves out what is reserved for root, since that is what the next write can have.
  package func freeByteCount() throws(Errno) -> UInt64 {
    var buffer = statvfs()
    _ = try system(.fstatvfs, faults) { unsafe fstatvfs(raw, &buffer) }
    // Saturating, as whatever a filesystem in user space tells: it need not make sense.
    return UInt64(buffer.f_bavail).multipliedSaturating(by: UInt64(buffer.f_frsize))
  }
}

extension DirectoryHandle {
  /// Makes a directory by path. Corresponds to `mkdirat(AT_FDCWD)`.
  package static func makeDirectory(
    path: String, permissions: UInt32, faults: FaultInjector?
  ) throws(Errno) {
    _ = try system(.mkdirat, faults) {
      unsafe path.withCString { unsafe mkdirat(AT_FDCWD, $0, mode_t(permissions)) }
    }
  }

  /// Sets the mode of what a path leads to. Corresponds to `fchmodat(AT_FDCWD)`.
  package static func setMode(
    path: String, _ permissions: UInt32, faults: FaultInjector?
  ) throws(Errno) {
    _ = try system(.fcntl, faults) {
      unsafe path.withCString { unsafe fchmodat(AT_FDCWD, $0, mode_t(permissions), 0) }
    }
  }

  /// The absolute path of the open directory, without links.
  ///
  /// Corresponds to reading the link `/proc/self/fd/N`; where `/proc` is not mounted, to `realpath`
  /// of the path that it was opened by.
  ///
  /// Taken from the descriptor and not from the path, which could lead elsewhere by now. A path
  /// that is not UTF-8 comes out changed; such a directory works and is only never made again.
  package func resolvedPath(openedAs path: String) throws(Errno) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    do throws(Errno) {
      let count = try system(.fcntl, nil) {
        unsafe readlink("/proc/self/fd/\(raw)", &buffer, buffer.count)
      }
      return Self.text(buffer[..<count])
    } catch .noSuchFile {
      guard unsafe realpath(path, &buffer) != nil else { throw Errno.current }
      return Self.text(buffer.prefix { $0 != 0 })
    }
  }

  private static func text(_ characters: ArraySlice<CChar>) -> String {
    String(decoding: characters.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension DirectoryHandle {
  /// Takes note, in builds for the schedule explorer, that a call moves a file's change time.
  @inline(__always)
  private func noteChange(of name: FileName) {
    #if LARDER_SCHEDULES
      unsafe name.withCString { unsafe ScheduledFiles.touch(raw, $0) }
    #endif
  }
}
