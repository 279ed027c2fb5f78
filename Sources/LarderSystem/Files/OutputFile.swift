#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A file that is written from front to back and appears under its name only when it is whole.
///
/// What is not a regular file, such as `/dev/null`, a FIFO or a link to nothing, is written in
/// place, since it must not be replaced.
package struct OutputFile: ~Copyable {
  private let descriptor: FileDescriptor
  /// The temporary beside the target and the target, while the one has to become the other.
  private var replacement: (temporary: Path, target: Path)?

  private init(
    _ descriptor: consuming FileDescriptor, _ replacement: (temporary: Path, target: Path)?
  ) {
    self.descriptor = descriptor
    self.replacement = replacement
  }

  // Not finished: the target was never touched, and the temporary goes. A process that is killed
  // leaves it.
  deinit {
    guard let replacement else { return }
    _ = unsafe replacement.temporary.withCString { unsafe unlink($0) }
  }

  /// The process's standard output, which stays open.
  package static var standardOutput: OutputFile { OutputFile(FileDescriptor(lending: 1), nil) }

  /// Starts a file that takes the place of what has the path when it is finished.
  ///
  /// - Parameter permissions: The mode of a regular file; nil for that of the file which is
  ///   replaced, or else what the umask leaves of 0666.
  package init(_ path: Path, permissions: UInt32? = nil) throws(Errno) {
    // Asked without following links first: a link to nothing is taken, though there is no file.
    guard try path.isTaken() else {
      self = try Self.replacing(path, permissions: permissions)
      return
    }
    do throws(Errno) {
      let status = try path.status()
      if status.isDirectory { throw .isDirectory }
      // Through links to the file itself: a link that leads to the target stays a link.
      if status.isRegular {
        self = try Self.replacing(
          try path.resolved(), permissions: permissions ?? status.permissions)
        return
      }
    } catch .noSuchFile {
      // A link to nothing: writing through it makes what it points to.
    }
    self.init(try path.open(flags: O_WRONLY | O_CREAT, permissions: 0o666), nil)
  }

  /// Starts a temporary in the directory of the target, so that renaming it takes one step.
  private static func replacing(
    _ target: Path, permissions: UInt32?
  ) throws(Errno) -> OutputFile {
    // The random part keeps clear of what a killed process of the same number left behind.
    let unique = "\(ProcessIdentity.pid)-\(UInt32.random(in: .min ... .max))"
    let temporary = target.parent.appending(".larder-output-\(unique)")
    let descriptor = try temporary.open(
      flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: permissions ?? 0o666)
    let file = OutputFile(descriptor, (temporary, target))
    // The file that is replaced keeps its mode, which the umask must not narrow; a new one has what
    // the umask leaves of 0666.
    if let permissions { try file.descriptor.setPermissions(permissions) }
    return file
  }

  /// Writes all bytes. Corresponds to `write`.
  package func write(_ bytes: Span<UInt8>) throws(Errno) {
    try descriptor.write(bytes)
  }

  /// Gives the file its name; nothing to do for what was written in place. Corresponds to
  /// `rename`.
  ///
  /// Not synced: whoever pipes or copies a value syncs it himself if it matters.
  package mutating func finish() throws(Errno) {
    guard let replacement else { return }
    _ = try system(.renameat, nil) {
      unsafe replacement.temporary.withCString { old in
        unsafe replacement.target.withCString { new in unsafe rename(old, new) }
      }
    }
    self.replacement = nil
  }
}
