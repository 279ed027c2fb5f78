#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Which file a name or descriptor stands for, whatever it is called. Corresponds to `st_dev` and
/// `st_ino`.
struct FileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64
}

/// What the system knows of a file. Corresponds to C's `struct stat`.
struct FileStatus: Sendable {
  let identity: FileIdentity
  let mode: UInt32
  let owner: UInt32
  let group: UInt32
  /// The number of names; 0 for a file that was removed and is still open.
  let linkCount: UInt64
  let byteCount: UInt64
  let allocatedByteCount: UInt64
  let lastAccess: Timestamp
  let modification: Timestamp
  let change: Timestamp

  var inode: UInt64 { identity.inode }
  var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
  var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
  var isSymbolicLink: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFLNK) }
  var isWritableByGroup: Bool { mode & 0o020 != 0 }
  var isWritableByOthers: Bool { mode & 0o002 != 0 }
  var permissions: UInt32 { mode & 0o7777 }

  init(_ status: stat) {
    identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    mode = UInt32(status.st_mode)
    owner = UInt32(status.st_uid)
    group = UInt32(status.st_gid)
    linkCount = UInt64(status.st_nlink)
    byteCount = UInt64(max(0, status.st_size))
    allocatedByteCount = UInt64(max(0, status.st_blocks)) * 512
    lastAccess = Timestamp(status.st_atim)
    modification = Timestamp(status.st_mtim)
    change = Timestamp(status.st_ctim)
  }
}

extension Timestamp {
  init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
  }

  /// The stamp as `futimens` takes it.
  var timespec: timespec {
    var time = Self.emptyTimespec
    time.tv_sec = .init(clamping: seconds)
    time.tv_nsec = .init(nanoseconds)
    return time
  }

  /// A stamp that `futimens` leaves as it is. See: man 2 utimensat, UTIME_OMIT.
  static var omitted: timespec {
    var time = emptyTimespec
    time.tv_nsec = (1 << 30) - 2
    return time
  }

  private static var emptyTimespec: timespec { .init() }
}
