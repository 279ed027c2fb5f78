#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The names in a directory, in the system's order.
@safe struct DirectoryStream: ~Copyable {
  private let stream: OpaquePointer
  private let faults: FaultInjector?

  /// Starts at the first name. Takes the descriptor over. Corresponds to `fdopendir`.
  init(_ descriptor: consuming FileDescriptor) throws(Errno) {
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
    unsafe closedir(stream)
  }

  /// A name in the directory, or that there is one which is longer than the cache's can be.
  enum Found {
    case name(FileName)
    case longName
  }

  /// The next name other than `.` and `..`, nil at the end. Corresponds to `readdir`.
  func next() throws(Errno) -> Found? {
    while let name = try nextName() {
      guard let name = name else { return .longName }
      if name.isDotOrDotDot { continue }
      return .name(name)
    }
    return nil
  }

  private func nextName() throws(Errno) -> FileName?? {
    while let errno = faults?.strike(.readdir) {
      if errno != .interrupted { throw errno }
    }
    errno = 0
    guard let entry = unsafe readdir(stream) else {
      // Null without an error is the end. See: man 3 readdir.
      let failure = Errno.current
      if failure.rawValue != 0 { throw failure }
      return .none
    }
    let name =
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
