import LarderLibc
import LarderSystem

/// A file that is written from front to back and gets its name only when it is complete.
///
/// A file that is not regular, such as `/dev/null`, a FIFO or a dangling link, is written in place,
/// because it must not be replaced.
struct OutputFile: ~Copyable {
  private let descriptor: FileDescriptor
  /// The temporary and the target beside it, until the temporary is renamed to the target.
  private var replacement: (temporary: Path, target: Path)?

  private init(
    _ descriptor: consuming FileDescriptor, _ replacement: (temporary: Path, target: Path)?
  ) {
    self.descriptor = descriptor
    self.replacement = replacement
  }

  // Without `finish()` the target was never touched, and the temporary is removed. A killed process
  // leaves the temporary.
  deinit { if let replacement { Self.remove(replacement.temporary) } }

  private static func remove(_ temporary: Path) {
    _ = unsafe temporary.withCString { unsafe unlink($0) }
  }

  /// The process's standard output, which stays open.
  static var standardOutput: OutputFile { OutputFile(FileDescriptor(lending: 1), nil) }

  /// Starts a file that replaces the file at a path when it is finished.
  ///
  /// - Parameter permissions: The mode of a regular file; nil for that of the replaced file, or
  ///   else for 0666 without the umask's bits.
  init(_ path: Path, permissions: UInt32? = nil) throws(Errno) {
    // First without following links, because a dangling link exists although there is no file.
    guard try path.isTaken() else {
      self = try Self.replacing(path, permissions: permissions)
      return
    }
    do throws(Errno) {
      let status = try path.status()
      if status.isDirectory { throw .isDirectory }
      // The link is resolved, so that it stays a link to the new file.
      if status.isRegular {
        self = try Self.replacing(
          try path.resolved(), permissions: permissions ?? status.permissions)
        return
      }
    } catch .noSuchFile {
      // Writing through a dangling link makes the file that it points to.
    }
    self.init(try path.open(flags: O_WRONLY | O_CREAT, permissions: permissions ?? 0o666), nil)
  }

  /// Starts a temporary in the directory of the target, so that one rename publishes it.
  private static func replacing(
    _ target: Path, permissions: UInt32?
  ) throws(Errno) -> OutputFile {
    // The random part differs from the temporaries that a killed process of the same number left.
    let unique = "\(ProcessIdentity.pid)-\(UInt32.random(in: .min ... .max))"
    let temporary = target.parent.appending(".larder-output-\(unique)")
    // Its name is nobody else's, so it is not asked whether it is there still.
    EndingSignals.remove(by: { remove(temporary) })
    let descriptor = try temporary.open(
      flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: permissions ?? 0o666)
    let file = OutputFile(descriptor, (temporary, target))
    // A replaced file keeps its mode, which the umask must not narrow. A new file has 0666 without
    // the umask's bits.
    if let permissions { try file.descriptor.setPermissions(permissions) }
    return file
  }

  /// Writes all bytes. Corresponds to `write`.
  func write(_ bytes: Span<UInt8>) throws(Errno) {
    try descriptor.write(bytes)
  }

  /// Gives the file its name; does nothing for a file written in place. Corresponds to `rename`.
  ///
  /// Does not sync the file; the caller must do that if the file has to survive a power cut.
  mutating func finish() throws(Errno) {
    guard let replacement else { return }
    _ = try system(.renameat, nil) {
      unsafe replacement.temporary.withCString { old in
        unsafe replacement.target.withCString { new in unsafe rename(old, new) }
      }
    }
    self.replacement = nil
  }
}
