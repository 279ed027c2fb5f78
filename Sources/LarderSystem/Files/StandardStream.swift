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
