#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

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
