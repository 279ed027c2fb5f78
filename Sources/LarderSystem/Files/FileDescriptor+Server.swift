#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

// Calls that only matter if another machine serves the file.
extension FileDescriptor {
  /// Waits until the server has received the writes, and throws if it could not take them: EDQUOT,
  /// EIO, ENOSPC. Corresponds to `close` of a duplicate, at which network file systems report such
  /// errors.
  ///
  /// See: man 2 close, "Dealing with error returns from close()". In contrast to `fsync`, it does
  /// not mean that the bytes are on the server's disk.
  package func flush() throws(Errno) {
    let copy = try system(.fcntl, faults) { fcntl(rawValue, F_DUPFD_CLOEXEC, 0) }
    // Not repeated on EINTR, because the number may belong to another file by then.
    if close(copy) != 0 { throw .current }
  }

  /// Makes a file in memory that contains bytes, with the offset at its start. Corresponds to
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
