import LarderLibc
import LarderSystem

/// A file that is written from front to back and gets its name only when it is complete.
///
/// What must not be replaced is written in place: a file that is not regular, such as `/dev/null`,
/// a FIFO or a dangling link, and what is open already, as `/dev/stdout` is.
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

  /// Whether a path stands for the standard output: `-`, a name of it, or none at all.
  static func isStandardOutput(_ path: [UInt8]?) -> Bool {
    path == nil || path == Call.dash || path.flatMap(descriptor(namedBy:)) == 1
  }

  /// Returns the number of the open descriptor that a path names; nil if it is that of a file. Such
  /// a path leads to the file that the descriptor has open, which a rename would replace for all
  /// but the descriptor.
  private static func descriptor(namedBy path: [UInt8]) -> Int32? {
    let text = String(decoding: path, as: UTF8.self)
    let names = ["/dev/stdin", "/dev/stdout", "/dev/stderr"]
    if let number = names.firstIndex(of: text) { return Int32(number) }
    let folder = ["/dev/fd/", "/proc/self/fd/"].first(where: text.hasPrefix)
    return folder.flatMap { Int32(text.dropFirst($0.count)) }
  }

  /// Returns the number of the standard output or error, if it has a file open; nil for others.
  private static func stream(to file: FileStatus) -> Int32? {
    [1, 2].first { number in
      do throws(Errno) {
        return try FileDescriptor(lending: number).status().identity == file.identity
      } catch {
        return false
      }
    }
  }

  /// Starts a file that replaces the file at a path when it is finished, or writes to an open
  /// descriptor that the path names, such as `/dev/stdout`.
  ///
  /// - Parameter permissions: The mode of a regular file; nil for that of the replaced file, and
  ///   its owner if the process is root, or else for 0666 without the umask's bits.
  init(_ path: Path, permissions: UInt32? = nil) throws(Errno) {
    if let number = Self.descriptor(namedBy: path.bytes) {
      // One with this flag is the process's own: it did not come through an exec.
      let flags = try system(.fcntl, nil) { fcntl(number, F_GETFD, 0) }
      if flags & FD_CLOEXEC != 0 { throw .badDescriptor }
      self.init(FileDescriptor(lending: number), nil)
      return
    }
    // First without following links, because a dangling link exists although there is no file.
    guard try path.isTaken() else {
      self = try Self.replacing(path, permissions: permissions)
      return
    }
    do throws(Errno) {
      let status = try path.status()
      if status.isDirectory { throw .isDirectory }
      if status.isRegular, let number = Self.stream(to: status) {
        self.init(FileDescriptor(lending: number), nil)
        return
      }
      // The link is resolved, so that it stays a link to the new file.
      if status.isRegular {
        self = try Self.replacing(try path.resolved(), status, permissions: permissions)
        return
      }
    } catch .noSuchFile {
      // Writing through a dangling link makes the file that it points to.
    }
    self.init(try path.open(flags: O_WRONLY | O_CREAT, permissions: permissions ?? 0o666), nil)
  }

  /// Starts a temporary in the directory of the target, so that one rename publishes it.
  private static func replacing(
    _ target: Path, _ replaced: FileStatus? = nil, permissions: UInt32?
  ) throws(Errno) -> OutputFile {
    // The bits of set-user-ID and set-group-ID were for the old content.
    let mode = permissions ?? replaced.map { $0.permissions & 0o777 }
    // The random part differs from the temporaries that a killed process of the same number left.
    let unique = "\(ProcessIdentity.pid)-\(UInt32.random(in: .min ... .max))"
    let temporary = target.parent.appending(".larder-output-\(unique)")
    // Its name is nobody else's, so it is not asked whether it is there still.
    EndingSignals.remove(by: { remove(temporary) })
    let descriptor = try temporary.open(
      flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: mode ?? 0o666)
    let file = OutputFile(descriptor, (temporary, target))
    if permissions == nil, let replaced { try file.keepOwner(of: replaced) }
    // A replaced file keeps its mode, which the umask must not narrow. A new file has 0666 without
    // the umask's bits.
    if let mode { try file.descriptor.setPermissions(mode) }
    return file
  }

  /// Gives a file of root's the owner and the group of the file that it replaces, so that they can
  /// still read it.
  private func keepOwner(of replaced: FileStatus) throws(Errno) {
    let status = try descriptor.status()
    let isSame = (status.owner, status.group) == (replaced.owner, replaced.group)
    if ProcessIdentity.user != 0 || isSame { return }
    try descriptor.setOwner(replaced.owner, group: replaced.group)
  }

  /// Writes all bytes. Corresponds to `write`.
  func write(_ bytes: Span<UInt8>) throws(Errno) {
    try descriptor.write(bytes)
  }

  /// Gives the file its name, unless it is written in place. Corresponds to `rename`. Throws also
  /// what network file systems tell only when a file is closed, such as a full disk.
  ///
  /// Does not sync the file; the caller must do that if the file has to survive a power cut.
  mutating func finish() throws(Errno) {
    try descriptor.flush()
    guard let replacement else { return }
    _ = try system(.renameat, nil) {
      unsafe replacement.temporary.withCString { old in
        unsafe replacement.target.withCString { new in unsafe rename(old, new) }
      }
    }
    self.replacement = nil
  }
}
