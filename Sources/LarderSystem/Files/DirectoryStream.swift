import LarderLibc

/// The names in a directory, in the system's order.
@safe package struct DirectoryStream: ~Copyable {
  // `DIR *`. Only one thread may use a stream at a time, because readdir is not safe otherwise;
  // `~Copyable` ensures it. See: man 3 readdir.
  private let stream: OpaquePointer
  private let faults: FaultInjector?

  /// Starts at the first name. Takes ownership of the descriptor. Corresponds to `fdopendir`.
  ///
  /// - Throws: `.notDirectory`; the descriptor is closed then.
  package init(_ descriptor: consuming FileDescriptor) throws(Errno) {
    faults = descriptor.faults
    let raw = descriptor.release()
    guard let stream = unsafe fdopendir(raw) else {
      let errno = Errno.current
      _ = close(raw)
      throw errno
    }
    unsafe self.stream = stream
  }

  deinit {
    // Closes the descriptor as well, whose ownership passed to the stream.
    unsafe closedir(stream)
  }

  /// A name in the directory, or a mark for a name that is longer than the cache's can be.
  ///
  /// Such a name is foreign for its length alone, and is counted without a copy.
  package enum Found {
    case name(FileName)
    case longName
  }

  /// Returns the next name other than `.` and `..`; nil at the end. Corresponds to `readdir`.
  ///
  /// A name that is made or removed during the walk may be returned or not. Every other name is
  /// returned once, if the file system conforms to POSIX.
  package func next() throws(Errno) -> Found? {
    while true {
      let planned = faults?.strike(.readdir)
      // readdir leaves errno at the end of the directory, so an older error must be cleared.
      errno = 0
      if planned == nil, let entry = unsafe readdir(stream) {
        guard let name = unsafe Self.name(entry) else { return .longName }
        if name.isDotOrDotDot { continue }
        return .name(name)
      }
      // Null without an error is the end. See: man 3 readdir.
      let failure = planned ?? Errno.current
      if failure.rawValue == 0 { return nil }
      // FUSE and NFS report a signal. The stream stands where it stood.
      if failure != .interrupted { throw failure }
    }
  }

  /// Returns the name of an entry; nil if it is too long.
  private static func name(_ entry: UnsafeMutablePointer<dirent>) -> FileName? {
    let name =
      // On some file systems the name is longer than the field's declared type, so it is read by
      // its address and not as a tuple.
      unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name).unsafelyUnwrapped
    return unsafe FileName(copying: name.assumingMemoryBound(to: CChar.self))
  }
}

extension FileName {
  fileprivate var isDotOrDotDot: Bool {
    guard self[0] == UInt8(ascii: ".") else { return false }
    return count == 1 || (count == 2 && self[1] == UInt8(ascii: "."))
  }
}
