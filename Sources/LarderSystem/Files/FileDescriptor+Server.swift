#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

// What only matters where the file is another machine's.
extension FileDescriptor {
  /// Waits until the server has what was written, and throws what it could not take: EDQUOT, EIO,
  /// ENOSPC. Corresponds to `close` of a duplicate, which is when network file systems say so.
  ///
  /// See: man 2 close, "Dealing with error returns from close()". Not `fsync`: that the bytes are on
  /// the server's disk is another promise.
  package func flush() throws(Errno) {
    let copy = try system(.fcntl, faults) { fcntl(rawValue, F_DUPFD_CLOEXEC, 0) }
    // Not repeated on EINTR: the number may be another file's by then.
    if close(copy) != 0 { throw .current }
  }

  /// Makes a file in memory that holds bytes and stands at its start. Corresponds to
  /// `memfd_create`.
  package static func inMemory(
    _ bytes: Span<UInt8>, faults: FaultInjector?
  ) throws(Errno) -> FileDescriptor {
    // MFD_CLOEXEC of linux/memfd.h.
    let raw = try system(.open, faults) { unsafe c_memfd_create("larder", 1) }
    let file = FileDescriptor(rawValue: raw, faults: faults)
    try file.write(bytes)
    try file.seek(to: 0)
    return file
  }
}
