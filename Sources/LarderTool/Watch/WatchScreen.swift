import Larder

/// A live view on a terminal: totals above, the latest events below.
///
/// It redraws its own lines and changes no terminal mode. So Ctrl-C needs no cleanup, and the last
/// view stays.
struct WatchScreen {
  private let directory: String
  private let limit: Int64?
  private let console: Console
  private var latest: [WatchEvent] = []
  /// The lines that are on the terminal.
  private var shown: [String] = []
  private var size = (columns: 0, lines: 0)

  /// Creates a view that has drawn nothing.
  init(directory: String, limit: Int64?, console: Console) {
    self.directory = directory
    self.limit = limit
    self.console = console
  }

  /// Draws the view again if it has changed.
  mutating func show(_ ledger: WatchLedger, _ events: [WatchEvent]) throws(Failure) {
    latest = Array((events.reversed() + latest).prefix(200))
    let stream = StandardStream.output
    let size = (columns: stream.columnCount ?? 80, lines: stream.lineCount ?? 24)
    let lines = lines(ledger, columns: size.columns, size.lines - 1)
    // After a change of size the place of the old lines is unknown, so the screen is cleared.
    let isResized = size != self.size && !shown.isEmpty
    if lines == shown && !isResized { return }
    self.size = size
    let home =
      isResized ? "\u{1b}[2J\u{1b}[H" : shown.isEmpty ? "" : "\u{1b}[\(shown.count)F"
    try console.print(home + lines.map { $0 + "\u{1b}[K\n" }.joined() + "\u{1b}[J")
    shown = lines
  }

  /// Returns the view within a terminal's columns and lines.
  func lines(_ ledger: WatchLedger, columns: Int, _ height: Int) -> [String] {
    let style = console.style
    let title = Array(directory.utf8).escapedForDisplay.truncated(toWidth: columns)
    var lines = [style.bold(title), totals(ledger, columns)]
    lines += counters(ledger).wrapped(toWidth: columns) + [""]
    let room = max(0, height - lines.count - 2)
    lines += events(room).lines(width: columns, style: style)
    lines.append(style.dim("times are UTC; Ctrl-C ends"))
    return Array(lines.prefix(max(1, height)))
  }

  private func events(_ most: Int) -> TextTable {
    var table = TextTable(columns: [
      TextTable.Column(title: "TIME"), TextTable.Column(title: "EVENT"),
      TextTable.Column(title: "SIZE", isRightAligned: true), TextTable.Column(title: "EXPIRES"),
      TextTable.Column(title: "KEY", canShrink: true, comfortableWidth: 24),
    ])
    for event in latest.prefix(most) {
      let entry = event.entry
      table.append([
        TextTable.Cell(event.time.timeOfDayText, .dim),
        TextTable.Cell(event.kind.rawValue, event.kind.tone),
        TextTable.Cell(ByteCount(Int64(entry.byteCount)).description),
        entry.expiryCell(at: event.time),
        TextTable.Cell(entry.key == nil ? entry.name : entry.keyText),
      ])
    }
    return table
  }

  /// Returns the line with entries and bytes, compared with the limit if there is one.
  private func totals(_ ledger: WatchLedger, _ columns: Int) -> String {
    let bytes = ByteCount(Int64(ledger.byteCount)).description
    let head = "\(ledger.count.grouped) entries, \(bytes)"
    guard let limit else { return head }
    let share = limit > 0 ? Int128(ledger.byteCount) * 100 / Int128(limit) : 100
    let tail = "\(share) % of \(ByteCount(limit))"
    let room = min(40, columns - head.displayWidth - tail.displayWidth - 4)
    let part = UInt64(max(0, ledger.byteCount))
    let bar = Bar.text(part, of: UInt64(max(1, limit)), width: room, style: console.style)
    let tone = share > 100 ? TextTone.red : share > 90 ? .yellow : .green
    let space = String(repeating: " ", count: max(0, room - bar.displayWidth))
    return "\(head)  \(console.style.set(bar, tone))\(space)  \(tail)"
  }

  private func counters(_ ledger: WatchLedger) -> String {
    WatchEvent.Kind.allCases.map { "\($0.rawValue) \((ledger.tally[$0] ?? 0).grouped)" }
      .joined(separator: "  ")
  }
}
