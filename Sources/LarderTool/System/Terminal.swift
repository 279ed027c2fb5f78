import LarderLibc
import LarderSystem
import Synchronization

/// One of the two streams that a command writes to.
enum StandardStream: Int32, Sendable {
  /// The stream for data.
  case output = 1
  /// The stream for messages.
  case error = 2

  /// Writes all of a text. Corresponds to `write`.
  ///
  /// Unbuffered: when it returns, the text has left the process, in the order of the calls.
  func write(_ text: String) throws(Errno) {
    try FileDescriptor(lending: rawValue).write(text.utf8.span)
  }

  /// Waits for some milliseconds; returns true at once if nobody can read the stream any more.
  /// Corresponds to `poll` for errors alone.
  func losesReader(within milliseconds: Int32) -> Bool {
    var stream = pollfd(fd: rawValue, events: 0, revents: 0)
    return unsafe poll(&stream, 1, milliseconds) > 0
  }

  /// Whether the stream is a terminal. Corresponds to `isatty`.
  var isTerminal: Bool { isatty(rawValue) == 1 }

  /// The columns of the terminal; nil if there is none or it does not report them. Corresponds to
  /// `ioctl(TIOCGWINSZ)`.
  var columnCount: Int? { size?.columns }

  /// The lines of the terminal; nil if there is none or it does not report them. Corresponds to
  /// `ioctl(TIOCGWINSZ)`.
  var lineCount: Int? { size?.lines }

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
/// The terminal's mode is restored when the value ends, and by a signal that ends or stops the
/// process. Ctrl-C and Ctrl-Z make such signals, also while the process waits for a slow disk.
struct Keyboard: ~Copyable {
  private let mode: termios

  /// Ctrl-C, as the key that a terminal without that signal sends.
  static let interrupt: UInt8 = 3
  /// The number of times that the process was continued after a stop.
  static var continuationCount: Int {
    KeyboardSignals.continuations.load(ordering: .relaxed)
  }

  private init(_ mode: termios) {
    self.mode = mode
  }

  /// Switches the terminal to single keys. Returns nil if standard input is no terminal.
  /// Corresponds to `tcsetattr`.
  static func attached() -> Keyboard? {
    var mode = termios()
    guard unsafe tcgetattr(0, &mode) == 0 else { return nil }
    KeyboardSignals.handle(restoring: mode)
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    let keyboard = Keyboard(mode)
    guard keyboard.setMode() else { return nil }
    return keyboard
  }

  deinit {
    KeyboardSignals.restore()
  }

  /// Sets the mode, and returns whether that worked. TCSANOW keeps keys that were typed before.
  @discardableResult
  private func setMode() -> Bool {
    var mode = mode
    return unsafe tcsetattr(0, TCSANOW, &mode) == 0
  }

  /// Waits for a key and returns it. Returns nil if none is pressed in time, and `interrupt` if the
  /// terminal is gone. Corresponds to `poll` and `read`.
  func key(within limit: Duration) -> UInt8? {
    // Before each wait, because a shell restores its own mode while the process is stopped. In the
    // background this stops the process until it is in the foreground. See: man 3 tcsetattr.
    setMode()
    var waiting = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(clamping: Int64(limit / .milliseconds(1)))
    // A signal may end the wait early, which the caller takes for the end of the time.
    guard unsafe poll(&waiting, 1, milliseconds) > 0 else { return nil }
    var key: UInt8 = 0
    return unsafe read(0, &key, 1) == 1 ? key : Self.interrupt
  }
}

/// The handlers by which a signal leaves the terminal as it was before `Keyboard`.
///
/// They call only functions that a signal handler may call. See: man 7 signal-safety.
private enum KeyboardSignals {
  /// The address of the mode to restore. The memory is never given back, because a handler may read
  /// it at any time.
  private static let former = Atomic<UInt>(0)
  static let continuations = Atomic<Int>(0)

  /// Installs the handlers for the signals that the parent process has not made ignored.
  static func handle(restoring mode: termios) {
    let copy = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    unsafe copy.initialize(to: mode)
    former.store(UInt(bitPattern: copy), ordering: .releasing)
    // A first use would initialise it, which a handler must not do.
    _ = continuations.load(ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
      set(number) { number in
        KeyboardSignals.restore()
        // Delivered when the handler returns, and then ends the process.
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    set(SIGTSTP) { _ in
      KeyboardSignals.restore()
      raise(SIGSTOP)
    }
    set(SIGCONT) { _ in
      KeyboardSignals.continuations.add(1, ordering: .relaxed)
    }
  }

  private static func set(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    let former = signal(number, SIG_IGN)
    let isIgnored =
      unsafe unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    if !isIgnored { signal(number, handler) }
  }

  /// Restores the mode, unless another process group has the terminal now, as a shell has while the
  /// process is in the background.
  static func restore() {
    let owner = tcgetpgrp(0)
    guard owner == -1 || owner == getpgrp() else { return }
    guard let mode = unsafe UnsafePointer<termios>(bitPattern: former.load(ordering: .acquiring))
    else { return }
    _ = unsafe tcsetattr(0, TCSANOW, mode)
  }
}
