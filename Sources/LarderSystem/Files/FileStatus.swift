#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Which file a name or descriptor stands for, whatever it is called. Corresponds to `st_dev` and
/// `st_ino`.
package struct FileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64
}

/// What the system knows of a file. Corresponds to C's `struct stat`.
package struct FileStatus: Sendable {
  /// Unique at one moment only: ext4 gives a removed file's inode number to the next file made. Who
  /// means the same file later compares the change time too.
  package let identity: FileIdentity
  package let mode: UInt32
  package let owner: UInt32
  package let group: UInt32
  /// The number of names; 0 for a file that was removed and is still open.
  package let linkCount: UInt64
  /// The length, which a sparse file can have without taking any room: up to 2⁶³ − 1.
  package let byteCount: UInt64
  /// What the filesystem set aside for it. `st_blocks` counts units of 512 bytes, whatever
  /// `st_blksize` says.
  package let allocatedByteCount: UInt64
  /// When the file was last used. For an entry, the place in the order of eviction.
  package let lastAccess: Timestamp
  /// When the content was last written. For an entry, its expiry; see `Timestamp.asExpiry`.
  package let modification: Timestamp
  /// When anything of the inode was last changed, by the system's clock. Nobody can set it, so that
  /// it tells one state of a file from every other.
  package let change: Timestamp

  package var inode: UInt64 { identity.inode }
  package var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
  package var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
  package var isSymbolicLink: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFLNK) }
  // The bits as chmod has them, for Glibc's and Musl's modules differ in the types of S_IWGRP and
  // the like.
  package var isWritableByGroup: Bool { mode & 0o020 != 0 }
  package var isWritableByOthers: Bool { mode & 0o002 != 0 }
  package var permissions: UInt32 { mode & 0o7777 }

  /// Takes over what C has, in types of one width on every platform.
  init(_ status: stat) {
    identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    mode = UInt32(status.st_mode)
    owner = UInt32(status.st_uid)
    group = UInt32(status.st_gid)
    linkCount = UInt64(status.st_nlink)
    // Signed in C; a negative one would come from a broken filesystem.
    byteCount = UInt64(max(0, status.st_size))
    allocatedByteCount = UInt64(max(0, status.st_blocks)).multipliedSaturating(by: 512)
    lastAccess = Timestamp(status.st_atim)
    modification = Timestamp(status.st_mtim)
    #if LARDER_SCHEDULES
      change = ScheduledFiles.changeTime(UInt64(status.st_ino))
    #else
      change = Timestamp(status.st_ctim)
    #endif
  }
}

extension Timestamp {
  /// Takes over a stamp of C's.
  init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
  }

  /// The stamp as `futimens` takes it.
  var timespec: timespec {
    var time = Self.emptyTimespec
    // `time_t` has 64 bits on every platform that Swift supports on Linux; the clamp costs nothing
    // and traps nowhere.
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
