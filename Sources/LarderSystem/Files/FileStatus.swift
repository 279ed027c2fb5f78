import LarderLibc

/// The identity of a file, whatever its name. Corresponds to `st_dev` and `st_ino`.
package struct FileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64
}

/// The status of a file. Corresponds to C's `struct stat`.
package struct FileStatus: Sendable {
  /// Unique at one moment only, because ext4 reuses a removed file's inode number for the next
  /// file. To recognise a file later, compare the change time too.
  package let identity: FileIdentity
  package let mode: UInt32
  package let owner: UInt32
  package let group: UInt32
  /// The number of names; 0 for a file that was removed and is still open.
  package let linkCount: UInt64
  /// The length. A sparse file can have any length up to 2⁶³ − 1 without using any space.
  package let byteCount: UInt64
  /// The bytes that the file system allocated for it. `st_blocks` counts units of 512 bytes,
  /// whatever `st_blksize` is.
  package let allocatedByteCount: UInt64
  /// The time of the last use. For an entry, its place in the order of eviction.
  package let lastAccess: Timestamp
  /// The time of the last write. For an entry, its expiry; see `Timestamp.asExpiry`.
  package let modification: Timestamp
  /// The time of the last change of the inode, by the system's clock. No process can set it, so it
  /// identifies one state of a file.
  package internal(set) var change: Timestamp

  package var inode: UInt64 { identity.inode }
  package var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
  package var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
  package var isSymbolicLink: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFLNK) }
  // The bits as in chmod, because Glibc's and Musl's modules differ in the types of S_IWGRP.
  package var isWritableByGroup: Bool { mode & 0o020 != 0 }
  package var isWritableByOthers: Bool { mode & 0o002 != 0 }
  package var permissions: UInt32 { mode & 0o7777 }

  /// Converts C's status to types of one width on every platform.
  ///
  /// - Parameter faults: The plan of faults, which may show the file as another file system would.
  init(_ status: stat, _ faults: FaultInjector? = nil) {
    identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    mode = UInt32(status.st_mode)
    owner = UInt32(status.st_uid)
    group = UInt32(status.st_gid)
    linkCount = UInt64(status.st_nlink)
    // Signed in C; a negative length would come from a broken file system.
    byteCount = UInt64(max(0, status.st_size))
    allocatedByteCount = UInt64(max(0, status.st_blocks)).multipliedSaturating(by: 512)
    lastAccess = Timestamp(status.st_atim)
    modification = Timestamp(status.st_mtim)
    #if LARDER_SCHEDULES
      change = ScheduledFiles.changeTime(UInt64(status.st_ino))
    #else
      change = Timestamp(status.st_ctim)
    #endif
    faults?.show(&self)
  }
}

extension Timestamp {
  /// Converts C's `timespec`.
  init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
  }

  /// The stamp in the form that `futimens` takes.
  var timespec: timespec {
    // `time_t` has 64 bits on every platform that Swift supports on Linux, where clamping costs
    // nothing and never traps.
    CTimespec(tv_sec: .init(clamping: seconds), tv_nsec: .init(nanoseconds))
  }

  /// A stamp that `futimens` does not set. See: man 2 utimensat, UTIME_OMIT.
  static var omitted: timespec { CTimespec(tv_sec: 0, tv_nsec: (1 << 30) - 2) }
}
