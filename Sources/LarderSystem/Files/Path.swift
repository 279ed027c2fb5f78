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

/// A file of any kind that is read from front to back.
package struct InputFile: ~Copyable {
  private let descriptor: FileDescriptor

  private init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }

  /// The process's standard input, which stays open.
  package static var standardInput: InputFile { InputFile(FileDescriptor(lending: 0)) }

  /// Opens a file, following links. Throws at once for a directory. Corresponds to `open`.
  package init(_ path: Path) throws(Errno) {
    let descriptor = try path.open(flags: O_RDONLY)
    // `open` succeeds on a directory, and only the read would fail, after an output was begun.
    if try descriptor.status().isDirectory { throw .isDirectory }
    self.init(descriptor)
  }

  /// Reads once, up to an array's whole length, and returns the number of bytes, 0 at the end.
  /// Corresponds to `read`.
  package func read(into bytes: inout [UInt8]) throws(Errno) -> Int {
    try descriptor.read(into: &bytes)
  }

  /// Reads the rest of the file, up to a number of bytes.
  ///
  /// - Complexity: O(bytes read), all of which are held in memory.
  package func readToEnd(upTo limit: Int) throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < limit {
      var piece = [UInt8](repeating: 0, count: min(limit - bytes.count, 64 << 10))
      let count = try read(into: &piece)
      if count == 0 { break }
      bytes += piece.prefix(count)
    }
    return bytes
  }

  /// Reads the rest of the file.
  ///
  /// - Complexity: O(bytes), all of which are held in memory. For keys, which have no limit. A
  ///   large value is read in pieces by `read(into:)`.
  package func readToEnd() throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = try read(into: &piece)
      if count == 0 { return bytes }
      bytes += piece.prefix(count)
    }
  }
}
