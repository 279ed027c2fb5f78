import LarderLibc

extension FileDescriptor {
  /// Reads up to `byteCount` bytes from the present offset, or from another one that leaves the
  /// present one as it is; fewer only at the end of the file.
  ///
  /// The system fills the array, which is not zeroed first. Corresponds to `read` and `pread`.
  ///
  /// - Parameter isPrompt: Whether it fails with EAGAIN in place of a wait. Needs an offset.
  /// - Complexity: O(bytes) with one copy, from the page cache into the array.
  package func read(
    upTo byteCount: Int, at offset: Int? = nil, isPrompt: Bool = false
  ) throws(Errno) -> [UInt8] {
    // All empty arrays share one object, and the count that the closure sets is written to it.
    if byteCount == 0 { return [] }
    var bytes: [UInt8] = []
    // Not `init(unsafeUninitializedCapacity:)`, which looks up the type of the storage each time.
    bytes.reserveCapacity(byteCount)
    try bytes.append(addingCapacity: byteCount) { (output) throws(Errno) in
      try unsafe output.withUnsafeMutableBufferPointer { (buffer, filled) throws(Errno) in
        let all = UnsafeMutableRawBufferPointer(buffer)
        while filled < byteCount {
          let count = unsafe try read(
            into: UnsafeMutableRawBufferPointer(rebasing: all[filled..<byteCount]),
            at: offset.map { $0 + filled }, isPrompt)
          // The file was cut short since its length was read. The caller compares the counts.
          if count == 0 { break }
          filled += count
        }
      }
    }
    return bytes
  }

  /// Reads once, up to an array's whole length, and returns the number of bytes, 0 at the end.
  ///
  /// May return fewer for any reason, as `read` may; only 0 means the end.
  package func read(into bytes: inout [UInt8]) throws(Errno) -> Int {
    var span = bytes.mutableSpan
    var rest = unsafe span.mutableBytes
    return try unsafe rest.withUnsafeMutableBytes { (buffer) throws(Errno) in
      try unsafe read(into: buffer)
    }
  }

  /// Reads until a span is full or the file ends, and returns the number of bytes.
  package func read(into span: inout MutableRawSpan) throws(Errno) -> Int {
    var filled = 0
    while filled < span.byteCount {
      let count = try unsafe span.withUnsafeMutableBytes { (buffer) throws(Errno) in
        try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      }
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  // The fault is handled outside of `system`, because it can also shorten the call.
  private func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int? = nil, _ isPrompt: Bool = false
  ) throws(Errno) -> Int {
    if isPrompt, let offset { return try unsafe readPrompt(into: buffer, at: offset) }
    let most = try faults?.limit(.read, to: buffer.count) ?? buffer.count
    guard let offset else {
      return try system(.read, nil) { unsafe cRead(rawValue, buffer.baseAddress, most) }
    }
    return try system(.read, nil) { unsafe pread(rawValue, buffer.baseAddress, most, offset) }
  }

  /// Writes all bytes at the present offset. Corresponds to `write`, repeated after short writes.
  ///
  /// After a failure some bytes may have been written, and the caller must truncate the file.
  package func write(_ bytes: Span<UInt8>) throws(Errno) {
    var written = 0
    while written < bytes.count {
      let rest = bytes.count - written
      let most = try faults?.limit(.write, to: rest) ?? rest
      let start = written
      let count = try system(.write, nil) {
        unsafe bytes.withUnsafeBytes { buffer in
          unsafe cWrite(rawValue, buffer.baseAddress.unsafelyUnwrapped + start, most)
        }
      }
      // As a file system in user space may answer, each time.
      if count == 0 { throw .ioError }
      written += count
    }
  }

  /// Waits until the server of a network file system has received the writes, and throws if it
  /// could not take them: EDQUOT, EIO, ENOSPC. Corresponds to `close` of a duplicate, at which
  /// network file systems report such errors.
  ///
  /// See: man 2 close, "Dealing with error returns from close()". In contrast to `fsync`, it does
  /// not mean that the bytes are on the server's disk.
  package func flush() throws(Errno) {
    while true {
      let copy = try system(.fcntl, faults) { fcntl(rawValue, F_DUPFD_CLOEXEC, 0) }
      let planned = faults?.strike(.close)
      guard let failure = close(copy) != 0 ? Errno.current : planned else { return }
      // The number is free even then, but the server may not have answered. It is asked by another
      // duplicate, because the number may belong to another file by now.
      if failure != .interrupted { throw failure }
    }
  }

  /// Makes a file in memory of some bytes, the offset at its start. Corresponds to `memfd_create`.
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

// The methods above hide the C functions of the same names.

private func cRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, buffer, count)
}

private func cWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, buffer, count)
}

extension FileDescriptor {
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

  /// Copies bytes from the offset of another file to that of this one, without passing them through
  /// the process, and moves both offsets. Corresponds to `copy_file_range`, in which the kernel has
  /// the two files share the blocks if the file system can, as XFS and btrfs do.
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
