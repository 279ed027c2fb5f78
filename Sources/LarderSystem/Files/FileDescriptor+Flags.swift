#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension FileDescriptor {
  // Values of linux/fs.h, which Glibc's module lacks.
  private static let getFlags: UInt = 0x8008_6601
  private static let setFlags: UInt = 0x4008_6602
  private static let noAtimeFlag: Int = 0x80

  /// Keeps reads by other programs from moving the atime of files made in this directory from now
  /// on.
  ///
  /// Corresponds to `ioctl(FS_IOC_SETFLAGS)` with FS_NOATIME_FL, which ext4 and btrfs pass on to
  /// new files.
  package func setNoAtimeFlag() throws(Errno) {
    // The call sets all flags at once, so they are read, changed and written. A flag that another
    // process sets in between is lost. So this is done only in a directory that the cache made or
    // found empty.
    var flags = try inodeFlags() | Self.noAtimeFlag
    _ = try system(.ioctl, faults) { unsafe ioctl(rawValue, Self.setFlags, &flags) }
  }

  /// Reads the flags. The kernel reads and writes 32 bits although the request's number says
  /// `long`; the upper half of the word stays zero. See: man 2 ioctl_iflags, BUGS.
  private func inodeFlags() throws(Errno) -> Int {
    var flags = 0
    _ = try system(.ioctl, faults) { unsafe ioctl(rawValue, Self.getFlags, &flags) }
    return flags
  }
}
