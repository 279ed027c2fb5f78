import Larder

/// A line on stderr that shows the progress of an operation, and is erased at the end.
///
/// A thread of its own draws it ten times a second, so that the time also advances while the
/// operation waits for a slow disk. It is shown only on a terminal, and only after half a second,
/// because a shorter one would flicker.
final class ProgressLine: Sendable {
  /// The part of an operation whose progress is shown.
  struct State {
    private(set) var done = 0
    /// Nil while the names are counted.
    private(set) var total: Int?
    /// The beginning of the present part: the counting of names or the work on them.
    private(set) var start: MonotonicTime
    fileprivate var isOver = false
    fileprivate var isDrawing = false

    init(at now: MonotonicTime) {
      start = now
    }

    /// Sets the number of finished items of all, or of the names that were found so far. An older
    /// number does not replace a newer one.
    mutating func update(_ done: Int, _ total: Int?, at now: MonotonicTime) {
      if total != nil, self.total == nil {
        (self.done, start) = (0, now)
      }
      guard total != nil || self.total == nil else { return }
      self.total = total
      self.done = max(self.done, done)
    }
  }

  private let console: Console
  private let what: String
  private let ask: (@Sendable () -> (done: Int, total: Int?)?)?
  private let state = ForkSafeMutex(State(at: .now))
  private let changed = EventCount()

  /// Starts the clock.
  ///
  /// - Parameters:
  ///   - what: The word for a finished item: "checked".
  ///   - ask: Returns the numbers that `update` would get, for an operation that does not tell
  ///     them. Called before each drawing; nil for no change.
  init(
    _ what: String, _ console: Console,
    asking ask: (@Sendable () -> (done: Int, total: Int?)?)? = nil
  ) {
    self.ask = ask
    self.what = what
    self.console = console
    guard console.showsProgress else { return }
    state.withLock { $0.isDrawing = true }
    do throws(Errno) {
      try startThread { [self] in draw() }
    } catch {
      // Without a thread there is no line, and the operation goes on.
      state.withLock { $0.isDrawing = false }
    }
  }

  /// Sets the number of finished items of all, or of the names that were found so far. Any thread
  /// can call it.
  func update(_ done: Int, _ total: Int?) {
    guard console.showsProgress else { return }
    state.withLock { $0.update(done, total, at: .now) }
  }

  /// Erases the line. Nothing is drawn after it.
  func finish() {
    state.withLock { $0.isOver = true }
    changed.signal()
    while true {
      let ticket = changed.ticket()
      if !state.withLock(\.isDrawing) { return }
      changed.wait(ticket)
    }
  }

  /// Draws the line until the end.
  private func draw() {
    let first = MonotonicTime.now.advanced(by: .milliseconds(500))
    var isShown = false
    while true {
      let ticket = changed.ticket()
      let now = MonotonicTime.now
      if let (done, total) = ask?() { update(done, total) }
      let (done, total, start, isOver) = state.withLock {
        ($0.done, $0.total, $0.start, $0.isOver)
      }
      if isOver { break }
      if now >= first {
        let width = StandardStream.error.columnCount ?? 80
        let text = Self.text(
          what, done, total, elapsed: now.duration(since: start), width: width - 1)
        console.talk("\r\u{1b}[K" + text)
        isShown = true
      }
      changed.wait(ticket, until: isShown ? now.advanced(by: .milliseconds(100)) : first)
    }
    if isShown { console.talk("\r\u{1b}[K") }
    state.withLock { $0.isDrawing = false }
    changed.signal()
  }

  /// Returns the line: the numbers, a bar, the share, and the speed so far with the time left at
  /// it. While the names are counted, their number and the speed.
  static func text(
    _ what: String, _ done: Int, _ total: Int?, elapsed: Duration, width: Int
  ) -> String {
    let rate = "\(Self.rate(done, elapsed))/s"
    guard let total else {
      let line =
        done > 0
        ? "found \(done.counted("name"))  \(rate), \(Self.text(elapsed))"
        : "reading the directory  \(Self.text(elapsed))"
      return line.truncated(toWidth: max(0, width))
    }
    let head = "\(what) \(done.grouped) of \(total.grouped)"
    let share = total > 0 ? done * 100 / total : 100
    // Before the first item is done, nothing tells how long the others will take.
    let time =
      done > 0 ? "\(Self.text(elapsed / done * max(0, total - done))) left" : Self.text(elapsed)
    let tail = "\(share) %, \(rate), \(time)"
    let room = width - head.displayWidth - tail.displayWidth - 4
    let style = TextStyle(usesEscapes: false, usesBlocks: true)
    let bar = Bar.text(
      UInt64(max(0, done)), of: UInt64(max(1, total)), width: min(40, room), style: style)
    let line = room > 4 ? "\(head)  \(bar.padded(toWidth: min(40, room)))  \(tail)" : head
    return line.truncated(toWidth: max(0, width))
  }

  /// Returns items a second, below ten with a decimal, because a slow disk may do fewer than one.
  private static func rate(_ done: Int, _ elapsed: Duration) -> String {
    let tenths = Int((Double(done) * 10_000 / max(1, elapsed / .milliseconds(1))).rounded())
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : ((tenths + 5) / 10).grouped
  }

  /// Returns a length of time in the unit that suits it.
  private static func text(_ duration: Duration) -> String {
    let seconds = duration.components.seconds
    return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
  }
}
