#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// What a command settles with the system before it begins and when it ends.
package enum CommandProcess {
  /// The status with which a shell shows that a command ended because nobody read on: 128 +
  /// SIGPIPE.
  package static let brokenPipeStatus: UInt8 = 141

  /// Makes sure that writing to a pipe nobody reads, or beyond `ulimit -f`, is an error and not the
  /// end, and that no file which is opened later gets the number of a standard stream that the
  /// caller closed.
  ///
  /// Corresponds to `signal(SIGPIPE, SIG_IGN)`, the same of SIGXFSZ, and `fcntl(F_GETFD)`.
  ///
  /// Call it before any other thread starts and before anything is opened: the second half relies
  /// on nobody else taking the numbers 0 to 2 meanwhile.
  package static func prepare() {
    // Ignored and not handled: a write to a closed pipe then fails with EPIPE, which the command
    // turns into status 141 after it has removed its temporaries. See: man 7 signal.
    signal(SIGPIPE, SIG_IGN)
    // The write fails with EFBIG then. A library must not settle this for its host.
    signal(SIGXFSZ, SIG_IGN)
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is the one that was found closed. Opened the wrong way round, so
      // that using the stream is the error it would have been.
      let mode = descriptor == 0 ? O_WRONLY : O_RDONLY
      // Without /dev, as in an empty root directory, any descriptor that cannot be written holds
      // the place.
      if unsafe open("/dev/null", mode) == -1 { _ = unsafe open("/", O_RDONLY | O_DIRECTORY) }
    }
  }

  /// Waits. Corresponds to `nanosleep`; a signal may end it early.
  ///
  /// For the demo alone. The library never sleeps: it waits for events and deadlines.
  package static func wait(_ duration: Duration) {
    var time = Timestamp(seconds: 0).adding(duration).timespec
    _ = unsafe nanosleep(&time, nil)
  }

  /// Ends the process with a status. Corresponds to `exit`.
  ///
  /// Runs what `atexit` registered, so that the runtime's buffers are written.
  package static func exit(_ status: UInt8) -> Never {
    cExit(Int32(status))
  }
}

// The function above hides the C function of the same name.
private func cExit(_ status: Int32) -> Never { exit(status) }
