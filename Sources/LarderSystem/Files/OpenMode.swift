#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The purpose of opening a file. Every mode is close-on-exec and follows no symbolic link.
enum OpenMode: Sendable {
  /// Reading, without moving the atime; never waits for a FIFO's writer.
  case read
  /// Reading, moving the atime as the mount says. Used if O_NOATIME is refused.
  case readMovingAtime
  /// Writing a file that must not exist yet.
  // Readable too, because a stamp by hand and a test read back what was written.
  case create
  /// Writing a file without a name, in a directory. See: man 2 open, O_TMPFILE.
  case createUnnamed
  /// Writing into an existing file; never waits for a FIFO's reader.
  case rewrite
  /// A directory, for reading its names without moving its atime.
  case directory
  /// A directory, moving its atime.
  case directoryMovingAtime

  /// The flags of `open`. O_CLOEXEC in every mode, because a program that the host starts must not
  /// hold the directory's lock. O_NOFOLLOW except for directories, whose paths the caller chose.
  var flags: Int32 {
    let common = O_CLOEXEC | O_NOFOLLOW
    return switch self {
    case .read: common | O_RDONLY | O_NONBLOCK | Self.noAtime
    case .readMovingAtime: common | O_RDONLY | O_NONBLOCK
    case .create: common | O_RDWR | O_CREAT | O_EXCL
    case .rewrite: common | O_RDWR | O_NONBLOCK
    case .createUnnamed: O_CLOEXEC | O_RDWR | Self.temporaryFile
    case .directory: O_CLOEXEC | O_RDONLY | O_DIRECTORY | Self.noAtime
    case .directoryMovingAtime: O_CLOEXEC | O_RDONLY | O_DIRECTORY
    }
  }

  // Values of asm-generic/fcntl.h, which Glibc's module lacks.
  // The same on x86-64 and arm64. See: man 2 open, O_NOATIME.
  private static let noAtime: Int32 = 0o1000000
  // O_TMPFILE contains O_DIRECTORY, so that a kernel without it fails with EISDIR instead of making
  // a file.
  private static let temporaryFile: Int32 = 0o20000000 | O_DIRECTORY
}
