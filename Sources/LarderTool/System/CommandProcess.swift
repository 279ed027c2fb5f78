import LarderLibc

/// Settings and calls that concern a command's whole process.
enum CommandProcess {
  /// The status with which a shell shows that a command ended because its output was not read on:
  /// 128 + SIGPIPE.
  static let brokenPipeStatus: UInt8 = 141

  /// Prepares the process of a command. Makes a write to a pipe without a reader, or beyond
  /// `ulimit -f`, fail with an error instead of ending the process. Keeps files that are opened
  /// later from getting the number of a standard stream that the caller closed.
  ///
  /// Corresponds to `signal(SIGPIPE, SIG_IGN)`, the same for SIGXFSZ, and `fcntl(F_GETFD)`.
  ///
  /// Call it before any other thread starts and before any file is opened, because another thread
  /// could take the numbers 0 to 2 meanwhile.
  static func prepare() {
    // Ignored, not handled: a write to a closed pipe then fails with EPIPE, which the command turns
    // into status 141 after it has removed its temporaries. See: man 7 signal.
    signal(SIGPIPE, SIG_IGN)
    // The write then fails with EFBIG. A library must not set this for its host.
    signal(SIGXFSZ, SIG_IGN)
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
      // `open` returns the lowest free number, which is the closed one. The mode is the wrong one,
      // so that using the stream fails as it would have when closed.
      let mode = descriptor == 0 ? O_WRONLY : O_RDONLY
      // Without /dev, as in an empty root directory, any descriptor that cannot be written fills
      // the place.
      if unsafe open("/dev/null", mode) == -1 { _ = unsafe open("/", O_RDONLY | O_DIRECTORY) }
    }
  }

  /// Waits for a duration. Corresponds to `nanosleep`; a signal may end it early.
  static func wait(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: .init(seconds), tv_nsec: .init(attoseconds / 1_000_000_000))
    _ = unsafe nanosleep(&time, nil)
  }

  /// Ends the process with a status. Corresponds to `exit`.
  ///
  /// Runs the functions registered with `atexit`, so that the runtime's buffers are written.
  static func exit(_ status: UInt8) -> Never {
    cExit(Int32(status))
  }
}

// The function above hides the C function of the same name.
private func cExit(_ status: Int32) -> Never { exit(status) }

/// The command line as the kernel passed it.
///
/// `CommandLine.arguments` replaces every byte that is not UTF-8 by U+FFFD, so a key or a path from
/// it could name another value or file.
enum ProcessArguments {
  /// The bytes of every argument without the final NUL, the program's own name first.
  ///
  /// Corresponds to `main`'s `argv`. See: man 2 execve.
  static var raw: [[UInt8]] {
    // Swift's runtime reads the arguments from /proc, and finds none if that is not mounted.
    guard CommandLine.argc > 0 else { return belowEnvironment }
    return (0..<Int(CommandLine.argc)).map { index in
      guard let start = unsafe CommandLine.unsafeArgv[index] else { return [] }
      return unsafe bytes(start)
    }
  }

  /// The arguments on the initial stack: right below the environment, with a zero in between, and
  /// their number below the first. The number ends the loop, because no pointer is that small.
  ///
  /// Source: System V ABI, process initialization. Valid until the environment is changed.
  private static var belowEnvironment: [[UInt8]] {
    // The word below the environment is the null after the arguments.
    var slot = unsafe environ - 2
    var arguments: [[UInt8]] = []
    while let start = unsafe slot.pointee, arguments.count < Int(bitPattern: start) {
      unsafe arguments.append(bytes(start))
      unsafe slot -= 1
    }
    return arguments.reversed()
  }

  private static func bytes(_ start: UnsafePointer<CChar>) -> [UInt8] {
    unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
  }
}
