#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The path of a file as the kernel takes it: any bytes except NUL.
package struct Path: Sendable, Hashable {
  /// The bytes, without the final NUL.
  package let bytes: [UInt8]

  /// Creates a path from bytes. It ends before the first NUL among them.
  package init(_ bytes: [UInt8]) {
    self.bytes = Array(bytes.prefix { $0 != 0 })
  }

  /// Creates a path from text.
  package init(_ text: String) {
    self.init(Array(text.utf8))
  }

  /// Calls a function with the path as a C string.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    // Built for each call, because paths are for rare operations; those on entries use `FileName`.
    let terminated = (bytes + [0]).map { CChar(bitPattern: $0) }
    return unsafe terminated.withUnsafeBufferPointer { buffer in
      // The array is never empty, so the base address exists.
      unsafe body(buffer.baseAddress.unsafelyUnwrapped)
    }
  }

  /// The path of the directory that contains a file of this path.
  ///
  /// Derived from the text alone, as by `dirname`; no link is resolved.
  var parent: Path {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return Path(".") }
    return slash == 0 ? Path("/") : Path(Array(bytes[..<slash]))
  }

  /// Returns the path of a file in the directory of this path.
  package func appending(_ name: String) -> Path {
    Path(bytes + [UInt8(ascii: "/")] + Array(name.utf8))
  }
}

extension Path {
  /// Returns the status of the file, following links. Corresponds to `stat`.
  package func status() throws(Errno) -> FileStatus {
    var buffer = stat()
    _ = try system(.fstatat, nil) {
      unsafe withCString { unsafe fstatat(AT_FDCWD, $0, &buffer, 0) }
    }
    return FileStatus(buffer)
  }

  /// Whether there is a file at the path, even a dangling link. Corresponds to `lstat`.
  package func isTaken() throws(Errno) -> Bool {
    var buffer = stat()
    do throws(Errno) {
      _ = try system(.fstatat, nil) {
        unsafe withCString { unsafe fstatat(AT_FDCWD, $0, &buffer, AT_SYMLINK_NOFOLLOW) }
      }
      return true
    } catch .noSuchFile {
      return false
    }
  }

  /// Returns the absolute path without links. Corresponds to `realpath`.
  func resolved() throws(Errno) -> Path {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard unsafe withCString({ unsafe realpath($0, &buffer) }) != nil else {
      throw Errno.current
    }
    return Path(buffer.map { UInt8(bitPattern: $0) })
  }

  /// Opens a file. Corresponds to `open`; the mode is narrowed by the umask.
  func open(flags: Int32, permissions: UInt32 = 0) throws(Errno) -> FileDescriptor {
    let raw = try system(.open, nil) {
      unsafe withCString {
        unsafe openat(AT_FDCWD, $0, flags | O_CLOEXEC, mode_t(permissions))
      }
    }
    return FileDescriptor(rawValue: raw, faults: nil)
  }
}
