#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Single keys from the terminal on standard input, without waiting for Return.
///
/// The terminal's mode is restored when the value ends. A signal that ends the process leaves the
/// changed mode, so Ctrl-C and Ctrl-Z arrive as keys here and not as signals. Shells restore the mode
/// after a program that was killed otherwise.
package struct Keyboard: ~Copyable {
  private let former: termios

  /// Ctrl-C, as a key.
  package static let interrupt: UInt8 = 3

  private init(restoring former: termios) {
    self.former = former
  }

  /// Switches the terminal to single keys. Returns nil if standard input is no terminal. Corresponds
  /// to `tcsetattr`.
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
