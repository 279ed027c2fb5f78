#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// One of the two streams that a command writes to.
package enum StandardStream: Int32, Sendable {
  /// The stream for data.
  case output = 1
  /// The stream for messages.
  case error = 2

  /// Writes all of a text. Corresponds to `write`.
  ///
  /// Unbuffered: when it returns, the text has left the process, in the order of the calls.
  package func write(_ text: String) throws(Errno) {
    try FileDescriptor(lending: rawValue).write(text.utf8.span)
  }

  /// Whether the stream is a terminal. Corresponds to `isatty`.
  package var isTerminal: Bool { isatty(rawValue) == 1 }

  /// The columns of the terminal; nil if there is none or it does not report them. Corresponds to
  /// `ioctl(TIOCGWINSZ)`.
  package var columnCount: Int? { size?.columns }

  /// The lines of the terminal; nil if there is none or it does not report them. Corresponds to
  /// `ioctl(TIOCGWINSZ)`.
  package var lineCount: Int? { size?.lines }

  private var size: (columns: Int, lines: Int)? {
    var size = winsize()
    // A serial line or a terminal in a pipe can report 0 columns, which means unknown.
    guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}

/// Single keys from the terminal on standard input, without waiting for Return.
///
/// The terminal's mode is restored when the value ends. A signal that ends the process leaves the
/// changed mode, so Ctrl-C and Ctrl-Z arrive as keys here and not as signals. Shells restore the
/// mode after a program that was killed otherwise.
package struct Keyboard: ~Copyable {
  private let former: termios

  /// Ctrl-C, as a key.
  package static let interrupt: UInt8 = 3

  private init(restoring former: termios) {
    self.former = former
  }

  /// Switches the terminal to single keys. Returns nil if standard input is no terminal.
  /// Corresponds to `tcsetattr`.
  package static func attached() -> Keyboard? {
    var mode = termios()
    guard unsafe tcgetattr(0, &mode) == 0 else { return nil }
    let former = mode
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
    // TCSANOW keeps keys that were typed before.
    guard unsafe tcsetattr(0, TCSANOW, &mode) == 0 else { return nil }
    return Keyboard(restoring: former)
  }

  deinit {
    var mode = former
    _ = unsafe tcsetattr(0, TCSANOW, &mode)
  }

  /// Waits for a key and returns it. Returns nil if none is pressed in time, and `interrupt` if the
  /// terminal is gone. Corresponds to `poll` and `read`.
  package func key(within limit: Duration) -> UInt8? {
    var waiting = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(clamping: Int64(limit / .milliseconds(1)))
    // A signal may end the wait early, which the caller takes for the end of the time.
    guard unsafe poll(&waiting, 1, milliseconds) > 0 else { return nil }
    var key: UInt8 = 0
    return unsafe read(0, &key, 1) == 1 ? key : Self.interrupt
  }
}
