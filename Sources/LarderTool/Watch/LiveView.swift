import Larder

/// Lines on a terminal that are drawn again in place.
///
/// Only its own lines are redrawn, so the last view stays on the terminal at the end.
struct LiveView {
  private let console: Console
  /// The lines that are on the terminal.
  private var shown: [String] = []
  private var size = (columns: 0, lines: 0)
  /// The number of times that the process had been continued when the lines were drawn.
  private var continuations = Keyboard.continuationCount

  /// Creates a view that has drawn nothing.
  init(_ console: Console) {
    self.console = console
  }

  /// The columns and lines for the view. One line stays free for the cursor below it.
  static var room: (columns: Int, lines: Int) {
    let stream = StandardStream.output
    return (stream.columnCount ?? 80, max(1, (stream.lineCount ?? 24) - 1))
  }

  /// Draws the lines if they differ from those on the terminal, which has the given room.
  mutating func draw(_ lines: [String], in size: (columns: Int, lines: Int)) throws(Failure) {
    // While the process was stopped, the shell has written below the lines.
    if continuations != Keyboard.continuationCount {
      (continuations, shown) = (Keyboard.continuationCount, [])
    }
    // After a change of size the place of the old lines is unknown, so the screen is cleared.
    let isResized = size != self.size && !shown.isEmpty
    if lines == shown && !isResized { return }
    self.size = size
    let home =
      isResized ? "\u{1b}[2J\u{1b}[H" : shown.isEmpty ? "" : "\u{1b}[\(shown.count)F"
    try console.print(home + lines.map { $0 + "\u{1b}[K\n" }.joined() + "\u{1b}[J")
    shown = lines
  }
}

extension Keyboard {
  /// Waits for a time. Returns true at once if the user asks to end with q, Escape or Ctrl-C.
  func asksToEnd(within time: Duration) -> Bool {
    let end = MonotonicTime.now.advanced(by: time)
    while let key = key(within: max(.zero, end.duration(since: MonotonicTime.now))) {
      if [UInt8(ascii: "q"), UInt8(ascii: "Q"), 27, Self.interrupt].contains(key) { return true }
    }
    return false
  }
}
