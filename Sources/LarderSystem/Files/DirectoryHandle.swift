import LarderLibc
import Synchronization

/// An open directory whose files are opened by name, even if its path changes.
///
/// The lock that a process holds on the directory, if any, belongs to this descriptor.
package final class DirectoryHandle: Sendable {
  /// The descriptor, shared by all operations. It is never read, because each walk gets an offset
  /// of its own from `reopen()`.
  package let descriptor: FileDescriptor
  /// The identity of the directory, wherever its path leads by now.
  package let identity: FileIdentity
  /// The owner when the directory was opened.
  package let owner: UInt32
  /// The group when the directory was opened. The owner and the group decide which users' files are
  /// trusted. They are not read again, because a user with the right to change a directory's owner
  /// can also replace the directory.
  package let group: UInt32
  /// The kind of file system. If it is unknown, it counts as a local one.
  package let fileSystem: FileSystemKind
  /// The length of the directory itself at its opening, which grows with the number of its names.
  package let byteCount: UInt64
  /// The `Promptness` of reads here.
  let promptMark = Atomic<UInt8>(Promptness.unknown.rawValue)

  /// Takes ownership of the descriptor of an open directory.
  ///
  /// - Throws: `.notDirectory`; the descriptor is closed then.
  init(_ descriptor: consuming FileDescriptor) throws(Errno) {
    let status = try descriptor.status()
    guard status.isDirectory else { throw .notDirectory }
    identity = status.identity
    owner = status.owner
    group = status.group
    byteCount = status.byteCount
    fileSystem = FileSystemKind(of: descriptor, device: status.identity.device)
    self.descriptor = descriptor
  }

  /// Takes the place of a directory that is not held any more. Calls through it fail with EBADF.
  package init(afterClosing handle: DirectoryHandle) {
    descriptor = FileDescriptor(lending: -1)
    (identity, owner, group) = (handle.identity, handle.owner, handle.group)
    (fileSystem, byteCount) = (handle.fileSystem, handle.byteCount)
  }

  // A value of linux/fcntl.h, which Glibc's module hides. See: man 2 linkat, AT_EMPTY_PATH.
  private static let emptyPath: Int32 = 0x1000

  // While the object lives, the number is open and cannot belong to another file.
  private var raw: Int32 { descriptor.rawValue }
  var faults: FaultInjector? { descriptor.faults }

  /// Opens a directory by path. Corresponds to `open`.
  ///
  /// Follows links, because the caller chose the path. Files below the directory are opened without
  /// following links. A directory that is not opened to be read need not be readable.
  package static func open(
    path: String, toRead: Bool = true, faults: FaultInjector?
  ) throws(Errno) -> DirectoryHandle {
    let descriptor = try sparingAtime(.directory) { (flags) throws(Errno) in
      let flags = toRead ? flags : flags | OpenMode.pathOnly
      let raw = try system(.open, faults) { Self.cOpen(AT_FDCWD, path, flags) }
      return FileDescriptor(rawValue: raw, faults: faults)
    }
    return try DirectoryHandle(descriptor)
  }

  private static func cOpen(_ start: Int32, _ path: String, _ flags: Int32) -> Int32 {
    unsafe path.withCString { unsafe openat(start, $0, flags, 0) }
  }
}

/// Opens with O_NOATIME and, if the system allows that only to the owner, without it.
///
/// See: man 2 open, EPERM.
private func sparingAtime(
  _ mode: OpenMode, _ open: (_ flags: Int32) throws(Errno) -> FileDescriptor
) throws(Errno) -> FileDescriptor {
  do throws(Errno) {
    return try open(mode.flags | OpenMode.noAtime)
  } catch .notPermitted {
    // O_NOATIME is for the owner and for CAP_FOWNER. Trying it first costs other users one failed
    // call; reading the owner first would cost every user one call.
    return try open(mode.flags)
  }
}

extension DirectoryHandle {
  /// Opens a file for reading. Corresponds to `openat`.
  ///
  /// Never blocks: a FIFO in the file's place is opened at once (O_NONBLOCK), and its status tells
  /// the caller that it is no regular file. A symbolic link fails with ELOOP, a socket with ENXIO.
  package func openForReading(_ name: FileName) throws(Errno) -> FileDescriptor {
    try sparingAtime(.read) { (flags) throws(Errno) in try open(name, flags) }
  }

  /// Opens the directory itself a second time, with an offset of its own.
  ///
  /// `dup` would share the offset, so two walks at once would each get a part of the names.
  package func reopen() throws(Errno) -> FileDescriptor {
    try sparingAtime(.directory) { (flags) throws(Errno) in try open(FileName("."), flags) }
  }

  /// Makes a file that must not exist. Corresponds to `openat(O_CREAT|O_EXCL)`.
  ///
  /// - Throws: `.fileExists` if the name exists, even as a dangling link.
  package func create(_ name: FileName, permissions: UInt32) throws(Errno) -> FileDescriptor {
    try open(name, OpenMode.create.flags, permissions: permissions)
  }

  /// Opens an existing file for reading and writing. Corresponds to `openat(O_RDWR)`.
  ///
  /// Never blocks and follows no link, as in `openForReading`.
  package func openForWriting(_ name: FileName) throws(Errno) -> FileDescriptor {
    try open(name, OpenMode.rewrite.flags)
  }

  /// Opens an existing file for reading and for an exclusive lock.
  ///
  /// On a network file system for writing as well, if this process may: NFS locks the bytes of the
  /// file, and refuses an exclusive lock with EBADF where they cannot be written. See: man 2 flock.
  /// A directory cannot be opened for writing; the engine asks for no exclusive lock on one there.
  package func openForLocking(_ name: FileName) throws(Errno) -> FileDescriptor {
    if fileSystem.isNetwork {
      do throws(Errno) {
        return try openForWriting(name)
      } catch .permissionDenied, .notPermitted, .readOnlyFileSystem, .isDirectory {
        // Opened as far as is allowed.
      }
    }
    return try openForReading(name)
  }

  /// Makes a file without a name. Corresponds to `openat(O_TMPFILE)`.
  ///
  /// The system removes the file when it is closed, also after a crash. See: man 2 open, O_TMPFILE,
  /// for the file systems that support it.
  package func createUnnamed(permissions: UInt32) throws(Errno) -> FileDescriptor {
    try open(FileName("."), OpenMode.createUnnamed.flags, permissions: permissions)
  }

  /// Opens a file by name in the held directory.
  func open(
    _ name: FileName, _ flags: Int32, permissions: UInt32 = 0
  ) throws(Errno) -> FileDescriptor {
    let descriptor = try system(.openat, faults) {
      unsafe name.withCString { unsafe openat(raw, $0, flags, mode_t(permissions)) }
    }
    return FileDescriptor(rawValue: descriptor, faults: faults)
  }

  /// Returns the status of a name, without following a link. Corresponds to `fstatat`.
  ///
  /// - Throws: `.noSuchFile`; on NFS also `.staleHandle`, when another client removed the file.
  package func status(of name: FileName) throws(Errno) -> FileStatus {
    var buffer = stat()
    _ = try system(.fstatat, faults) {
      unsafe name.withCString { unsafe fstatat(raw, $0, &buffer, AT_SYMLINK_NOFOLLOW) }
    }
    return FileStatus(buffer, faults)
  }

  /// Returns the status of a name, without following a link; nil if there is no file of the name.
  package func statusIfPresent(of name: FileName) throws(Errno) -> FileStatus? {
    do throws(Errno) {
      return try status(of: name)
    } catch .noSuchFile, .staleHandle {
      return nil
    }
  }

  /// Returns the status of the file that a name leads to, following links.
  package func statusFollowingLinks(of name: String) throws(Errno) -> FileStatus {
    var buffer = stat()
    _ = try system(.fstatat, faults) {
      unsafe name.withCString { unsafe fstatat(raw, $0, &buffer, 0) }
    }
    return FileStatus(buffer, faults)
  }

  /// Opens a directory below this one. Fails for a symbolic link in its place.
  package func openDirectory(_ name: String) throws(Errno) -> DirectoryHandle {
    let descriptor = try sparingAtime(.directory) { (flags) throws(Errno) in
      let opened = try system(.openat, faults) { Self.cOpen(raw, name, flags | O_NOFOLLOW) }
      return FileDescriptor(rawValue: opened, faults: faults)
    }
    return try DirectoryHandle(descriptor)
  }

  /// Removes a file's name. Corresponds to `unlinkat`.
  ///
  /// Removes by name, because POSIX has no removal by descriptor. A caller that means one certain
  /// file compares inode and change time first, and must accept a change between the two calls.
  ///
  /// - Throws: `.isDirectory` (on Linux EISDIR) for a directory, which is foreign and stays.
  package func unlink(_ name: FileName) throws(Errno) {
    _ = try system(.unlinkat, faults) {
      noteChange(of: name)
      return unsafe name.withCString { unsafe unlinkat(raw, $0, 0) }
    }
  }

  /// Whether this process may add and remove names. Corresponds to `faccessat`.
  package func allowsChanges() -> Bool {
    do throws(Errno) {
      return try system(.faccessat, faults) {
        unsafe faccessat(raw, ".", W_OK | X_OK, AT_EACCESS)
      } == 0
    } catch {
      return false
    }
  }

  /// Gives a file another name, replacing the file that has it. Corresponds to `renameat`.
  ///
  /// Atomic for every reader: each sees the old file or the new one. An open descriptor of the old
  /// file stays readable. See: man 2 rename.
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
  /// Corresponds to `renameat2(RENAME_NOREPLACE)`. If the file system does not support that flag,
  /// as no network file system does, to `linkat` and `unlinkat`: the file has both for a moment.
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
      try linkAndUnlink(old, new)
    }
  }

  private func linkAndUnlink(_ old: FileName, _ new: FileName) throws(Errno) {
    _ = try system(.linkat, faults) {
      unsafe old.withCString { old in
        unsafe new.withCString { new in unsafe linkat(raw, old, raw, new, 0) }
      }
    }
    do throws(Errno) {
      // Notes the change time of the file for the new name as well.
      try unlink(old)
    } catch {
      // Another process has renamed or removed the file since it was linked. It has not got its
      // new name then, under which it would stay.
      try unlink(new)
      throw error
    }
  }

  /// Gives a name, which must be free, to an open file without one.
  ///
  /// Corresponds to `linkat(AT_EMPTY_PATH)`; if that needs a privilege that the caller lacks, goes
  /// through `/proc/self/fd`. See: man 2 linkat.
  package func link(_ file: borrowing FileDescriptor, as name: FileName) throws(Errno) {
    let descriptor = file.rawValue
    do throws(Errno) {
      _ = try system(.linkat, faults) {
        // No literal, because Swift copies one into an array for C.
        unsafe FileName().withCString { empty in
          unsafe name.withCString { unsafe linkat(descriptor, empty, raw, $0, Self.emptyPath) }
        }
      }
      file.noteChange()
    } catch .noSuchFile {
      // A caller without CAP_DAC_READ_SEARCH gets ENOENT before Linux 6.10. The way through /proc
      // needs no privilege, and also gives ENOENT if the directory itself is gone.
      var path = FileName("/proc/self/fd/")
      path.append(decimal: UInt64(descriptor))
      _ = try system(.linkat, faults) {
        unsafe path.withCString { path in
          unsafe name.withCString { unsafe linkat(AT_FDCWD, path, raw, $0, AT_SYMLINK_FOLLOW) }
        }
      }
      file.noteChange()
    }
  }

  /// Returns the number of bytes that the caller may still write. Corresponds to `fstatvfs`.
  ///
  /// Uses `f_bavail`, which excludes the blocks reserved for root, because the caller cannot use
  /// those. A file system without sizes, as ramfs and some in user space, is never full.
  package func freeByteCount(forAttributes: Bool = false) throws(Errno) -> UInt64 {
    var buffer = statvfs()
    let most = try faults?.limit(.fstatvfs, to: .max) ?? .max
    _ = try system(.fstatvfs, nil) { unsafe fstatvfs(raw, &buffer) }
    if buffer.f_blocks == 0 { return .max }
    // tmpfs takes the room of attributes from that of inodes.
    if forAttributes && buffer.f_files > 0 && buffer.f_ffree < 64 { return 0 }
    // Saturating, because the values of a file system in user space need not make sense.
    let free = UInt64(buffer.f_bavail).multipliedSaturating(by: UInt64(buffer.f_frsize))
    return min(free, UInt64(most))
  }

  /// Makes a directory with exactly the mode asked for. Corresponds to `mkdirat`, and to `fchmod`
  /// because mkdir's mode is narrowed by the umask and has no set-group-id bit.
  ///
  /// The mode is set through the descriptor, because something else may have taken the path. A
  /// umask that takes away the owner's rights makes a directory that this process cannot open. Its
  /// mode is then set by its path. This is safe, because a user that could have put another
  /// directory there could also have made it first.
  ///
  /// - Parameter parent: The directory in which the path is a name; nil for a path.
  /// - Throws: `.fileExists` if the name exists, which is no failure for a caller that lost a race;
  ///   `.noSuchFile` for a missing parent.
  package static func make(
    _ path: String, below parent: DirectoryHandle? = nil, permissions: UInt32,
    faults: FaultInjector?
  ) throws(Errno) {
    let start = parent?.raw ?? AT_FDCWD
    _ = try system(.mkdirat, faults) {
      unsafe path.withCString { unsafe mkdirat(start, $0, mode_t(permissions)) }
    }
    func opened() throws(Errno) -> DirectoryHandle {
      if let parent { return try parent.openDirectory(path) }
      return try open(path: path, faults: faults)
    }
    let made: DirectoryHandle
    do throws(Errno) {
      made = try opened()
    } catch .permissionDenied {
      try setMode(path, at: start, permissions, faults)
      made = try opened()
    }
    let isNarrowed = try made.descriptor.status().permissions != permissions
    if isNarrowed { try made.descriptor.setPermissions(permissions) }
  }

  private static func setMode(
    _ path: String, at start: Int32, _ permissions: UInt32, _ faults: FaultInjector?
  ) throws(Errno) {
    _ = try system(.fcntl, faults) {
      unsafe path.withCString { unsafe fchmodat(start, $0, mode_t(permissions), 0) }
    }
  }

  /// Returns the absolute path of the open directory, without links.
  ///
  /// Corresponds to reading the link `/proc/self/fd/N`. If `/proc` is not mounted, to `realpath` of
  /// the path that the directory was opened by.
  ///
  /// Derived from the descriptor, because the path could lead elsewhere by now. A path that is not
  /// UTF-8 is returned changed; such a directory works, but cannot be made again.
  /// If the path is longer than the system takes, the path that the directory was opened by is
  /// returned, because it is one that leads there.
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
    } catch .nameTooLong {
      return path
    }
  }

  private static func text(_ characters: ArraySlice<CChar>) -> String {
    String(decoding: characters.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Records, in builds for the schedule explorer, that a call moves a file's change time.
  @inline(__always)
  private func noteChange(of name: FileName) {
    #if LARDER_SCHEDULES
      unsafe name.withCString { unsafe ScheduledFiles.touch(raw, $0) }
    #endif
  }
}
