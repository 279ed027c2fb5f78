#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

// What only matters where the file is another machine's.
extension FileDescriptor {
  // Values of linux/fcntl.h and linux/stat.h, which Glibc's module lacks.
  private static let emptyPath: Int32 = 0x1000
  private static let forceSync: Int32 = 0x2000
  private static let basicStatistics: UInt32 = 0x7ff

  /// Tells what the server knows of the file, whatever this machine remembers. Corresponds to
  /// `statx(AT_STATX_FORCE_SYNC)`.
  func statusFromServer() throws(Errno) -> FileStatus {
    // What it says goes into the kernel's memory as well, which the second call reads.
    var buffer = [UInt64](repeating: 0, count: 32)
    _ = try system(.fstat, faults) {
      unsafe c_statx(
        rawValue, "", Self.emptyPath | Self.forceSync, Self.basicStatistics, &buffer)
    }
    return try status()
  }

  /// Waits until the server has what was written, and throws what it could not take: EDQUOT, EIO,
  /// ENOSPC. Corresponds to `close` of a duplicate, which is when network file systems say so.
  ///
  /// See: man 2 close, "Dealing with error returns from close()". Not `fsync`: that the bytes are on
  /// the server's disk is another promise.
  func flush() throws(Errno) {
    let copy = try system(.fcntl, faults) { fcntl(rawValue, F_DUPFD_CLOEXEC, 0) }
    // Not repeated on EINTR: the number may be another file's by then.
    if close(copy) != 0 { throw .current }
  }

  /// Makes a file that was opened past the cached pages one like others, where the file system
  /// wants whole blocks to be read then. Corresponds to `fcntl(F_SETFL)`.
  ///
  /// Who asks for them passes on a local disk and keeps no pages of its own. See: man 2 open,
  /// O_DIRECT.
  ///
  /// - Throws: `.invalidArgument` for a file that was not opened in this way.
  func leaveBlocks() throws(Errno) {
    let flags = try system(.fcntl, faults) { fcntl(rawValue, F_GETFL) }
    let direct = OpenMode.readUncached.flags & ~OpenMode.readMovingAtime.flags
    guard flags & direct != 0 else { throw .invalidArgument }
    _ = try system(.fcntl, faults) { fcntl(rawValue, F_SETFL, flags & ~direct) }
  }

  /// The offset of the next read or write. Corresponds to `lseek`.
  func offset() throws(Errno) -> Int {
    Int(try system(.lseek, faults) { lseek(rawValue, 0, SEEK_CUR) })
  }
}
