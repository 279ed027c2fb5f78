import Larder

/// A line on stderr that shows the progress of an operation, and is erased at the end.
///
/// It is shown only on a terminal, and only after half a second, because a shorter one would
/// flicker.
struct ProgressLine {
  private let console: Console
  private let what: String
  private let start = MonotonicTime.now
  private var nextShow: MonotonicTime
  private var isShown = false

  /// Creates a hidden line and starts its clock. `what` is the word for a finished item: "checked".
  init(_ what: String, _ console: Console) {
    self.what = what
    self.console = console
    nextShow = start.advanced(by: .milliseconds(500))
  }

  /// Sets the number of finished items, and draws the line up to ten times a second.
  mutating func update(_ done: Int, _ total: Int) {
    guard console.showsProgress else { return }
    let now = MonotonicTime.now
    guard now >= nextShow else { return }
    nextShow = now.advanced(by: .milliseconds(100))
    isShown = true
    let width = StandardStream.error.columnCount ?? 80
    let text = Self.text(
      what, done, total, elapsed: now.duration(since: start), width: width - 1)
    console.talk("\r\u{1b}[K" + text)
  }

  /// Erases the line.
  mutating func finish() {
    if isShown { console.talk("\r\u{1b}[K") }
    isShown = false
  }

  /// Returns the line: the numbers, a bar, the share, and the speed so far with the time left at
  /// it.
  static func text(
    _ what: String, _ done: Int, _ total: Int, elapsed: Duration, width: Int
  ) -> String {
    let left = done > 0 ? elapsed / done * max(0, total - done) : .zero
    let head = "\(what) \(done.grouped) of \(total.grouped)"
    let milliseconds = max(1, elapsed / .milliseconds(1))
    let rate = Int((Double(done) * 1000 / milliseconds).rounded())
    let share = total > 0 ? done * 100 / total : 100
    let tail = "\(share) %, \(rate.grouped)/s, \(Self.text(left)) left"
    let room = width - head.displayWidth - tail.displayWidth - 4
    let style = TextStyle(usesEscapes: false, usesBlocks: true)
    let bar = Bar.text(
      UInt64(max(0, done)), of: UInt64(max(1, total)), width: min(40, room), style: style)
    let line = room > 4 ? "\(head)  \(bar.padded(toWidth: min(40, room)))  \(tail)" : head
    return line.truncated(toWidth: max(0, width))
  }

  /// Returns a length of time in the unit that suits it.
  private static func text(_ duration: Duration) -> String {
    let seconds = duration.components.seconds
    return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
  }
}
