#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The names in a directory, in the system's order.
@safe package struct DirectoryStream: ~Copyable {
  // `DIR *`. One thread uses a stream at a time, which `~Copyable` sees to: readdir is not safe
  // otherwise. See: man 3 readdir.
  private let stream: OpaquePointer
  private let faults: FaultInjector?

  /// Starts at the first name. Takes the descriptor over. Corresponds to `fdopendir`.
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
    // Closes the descriptor as well, which is why it was released to the stream.
    unsafe closedir(stream)
  }

  /// A name in the directory, or that there is one which is longer than the cache's can be.
  ///
  /// The latter is foreign by its length alone, and is counted without being copied.
  package enum Found {
    case name(FileName)
    case longName
  }

  /// The next name other than `.` and `..`, nil at the end. Corresponds to `readdir`.
  ///
  /// Names that are made or removed during the walk may come or not; every other name comes once,
  /// if the filesystem keeps POSIX's word.
  package func next() throws(Errno) -> Found? {
    while let name = try nextName() {
      guard let name = name else { return .longName }
      if name.isDotOrDotDot { continue }
      return .name(name)
    }
    return nil
  }

  /// The next name of any kind; the inner nil stands for one that is too long, the outer for the
  /// end.
  private func nextName() throws(Errno) -> FileName?? {
    while let errno = faults?.strike(.readdir) {
      if errno != .interrupted { throw errno }
    }
    // readdir leaves errno alone at the end of the directory, so an older error must not be taken
    // for one.
    errno = 0
    guard let entry = unsafe readdir(stream) else {
      // Null without an error is the end. See: man 3 readdir.
      let failure = Errno.current
      if failure.rawValue != 0 { throw failure }
      return .none
    }
    let name =
      // The name is longer than the field's declared type on some filesystems: it is read by
      // address and not as a tuple.
      unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name).unsafelyUnwrapped
    return .some(unsafe FileName(copying: name.assumingMemoryBound(to: CChar.self)))
  }
}

extension FileName {
  fileprivate var isDotOrDotDot: Bool {
    guard self[0] == UInt8(ascii: ".") else { return false }
    return count == 1 || (count == 2 && self[1] == UInt8(ascii: "."))
  }
}
