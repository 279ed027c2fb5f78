import LarderLibc
import LarderSystem

/// The path of a file as the kernel takes it: any bytes except NUL.
struct Path: Sendable, Hashable {
  /// The bytes, without the final NUL.
  let bytes: [UInt8]

  /// Creates a path from bytes. It ends before the first NUL among them.
  init(_ bytes: [UInt8]) {
    self.bytes = Array(bytes.prefix { $0 != 0 })
  }

  /// Creates a path from text.
  init(_ text: String) {
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
  func appending(_ name: String) -> Path {
    Path(bytes + [UInt8(ascii: "/")] + Array(name.utf8))
  }
}

extension Path {
  /// O_PATH, which needs no right to the file and does not wait for a FIFO. Of linux/fcntl.h,
  /// because Glibc's module lacks it.
  private static let placeOnly: Int32 = 0o10000000

  /// Returns the status of the file, following links. Corresponds to `stat`.
  func status() throws(Errno) -> FileStatus {
    try open(flags: Self.placeOnly).status()
  }

  /// Whether there is a file at the path, even a dangling link. Corresponds to `lstat`.
  func isTaken() throws(Errno) -> Bool {
    do throws(Errno) {
      _ = try open(flags: Self.placeOnly | O_NOFOLLOW)
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
struct InputFile: ~Copyable {
  private let descriptor: FileDescriptor

  private init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }

  /// The process's standard input, which stays open.
  static var standardInput: InputFile { InputFile(FileDescriptor(lending: 0)) }

  /// Opens a file, following links. Throws at once for a directory. Corresponds to `open`.
  init(_ path: Path) throws(Errno) {
    let file = InputFile(try path.open(flags: O_RDONLY))
    try file.check()
    self = file
  }

  /// Throws if no read can succeed, as of a directory or a closed standard input, before an output
  /// is begun. See: man 2 read, with a count of zero.
  func check() throws(Errno) {
    var nothing: [UInt8] = []
    _ = try read(into: &nothing)
  }

  /// Reads once, up to an array's whole length, and returns the number of bytes, 0 at the end.
  /// Corresponds to `read`.
  func read(into bytes: inout [UInt8]) throws(Errno) -> Int {
    try descriptor.read(into: &bytes)
  }

  /// Reads the rest of the file, up to a number of bytes.
  ///
  /// - Complexity: O(bytes read), all of which are held in memory.
  func readToEnd(upTo limit: Int) throws(Errno) -> [UInt8] {
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
  func readToEnd() throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = try read(into: &piece)
      if count == 0 { return bytes }
      bytes += piece.prefix(count)
    }
  }
}
