#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension FileDescriptor {
  // FICLONE of linux/fs.h, which Glibc's module lacks.
  private static let cloneRequest: UInt = 0x4004_9409

  /// Opens a caller's file for reading, following links. Corresponds to `open`. Never waits for a
  /// writer of a FIFO.
  package static func open(source path: String, faults: FaultInjector?) throws(Errno)
    -> FileDescriptor
  {
    let raw = try system(.open, faults) {
      unsafe path.withCString { unsafe openat(AT_FDCWD, $0, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0) }
    }
    return FileDescriptor(rawValue: raw, faults: faults)
  }

  /// Makes an empty file share the blocks of another file, each block until one of the two files
  /// changes it. Corresponds to `ioctl(FICLONE)`.
  ///
  /// - Throws: `.notSupported`, `.crossDevice`, `.invalidArgument` if the file system cannot do it;
  ///   the file is unchanged then. See: man 2 ioctl_ficlone.
  /// - Complexity: O(extents); no byte is copied.
  package func clone(_ source: borrowing FileDescriptor) throws(Errno) {
    let other = source.rawValue
    _ = try system(.ioctl, faults) { ioctl(rawValue, Self.cloneRequest, other) }
  }

  /// Copies bytes from the offset of another file to that of this one, without passing them through
  /// the process, and moves both offsets. Corresponds to `copy_file_range`.
  ///
  /// - Returns: The number of bytes copied; 0 at the end, and for a file that the kernel generates
  ///   while it is read.
  package func copy(from source: borrowing FileDescriptor, upTo byteCount: Int) throws(Errno) -> Int
  {
    let other = source.rawValue
    return try system(.copyFileRange, faults) {
      c_copy_file_range(other, nil, rawValue, nil, byteCount, 0)
    }
  }
}
