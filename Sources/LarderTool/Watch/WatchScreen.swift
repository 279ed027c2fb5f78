import Larder

/// A live view on a terminal: totals above, the latest events below.
struct WatchScreen {
  private let directory: String
  private let limit: Int64?
  private let console: Console
  private let blindness: String?
  private var latest: [WatchEvent] = []
  private var view: LiveView

  /// Creates a view that has drawn nothing.
  ///
  /// - Parameter blindness: What the watch does not see; nil if it sees all.
  init(directory: String, limit: Int64?, console: Console, blindness: String? = nil) {
    self.directory = directory
    self.limit = limit
    self.console = console
    self.blindness = blindness
    view = LiveView(console)
  }

  /// Draws the view again if it has changed.
  mutating func show(_ ledger: WatchLedger, _ events: [WatchEvent]) throws(Failure) {
    latest = Array((events.reversed() + latest).prefix(200))
    let room = LiveView.room
    try view.draw(lines(ledger, columns: room.columns, room.lines), in: room)
  }

  /// Returns the view within a terminal's columns and lines.
  func lines(_ ledger: WatchLedger, columns: Int, _ height: Int) -> [String] {
    let style = console.style
    let title = Array(directory.utf8).escapedForDisplay.truncated(toWidth: columns)
    var lines = [style.bold(title), totals(ledger, columns)]
    lines +=
      counters(ledger).wrapped(toWidth: columns).map { $0.truncated(toWidth: columns) } + [""]
    let notes = notes(ledger).map { style.dim($0.truncated(toWidth: columns)) }
    let room = max(0, height - lines.count - notes.count - 1)
    lines += events(room).lines(width: columns, style: style) + notes
    return Array(lines.prefix(max(1, height)))
  }

  /// Returns the lines at the end: what the view cannot show, and how to leave it.
  private func notes(_ ledger: WatchLedger) -> [String] {
    let missed = [blindness, ledger.missedText].compactMap(\.self)
    return missed + ["q ends; sampled ten times a second; times are UTC"]
  }

  private func events(_ most: Int) -> TextTable {
    let style = console.style
    var table = TextTable(columns: [
      TextTable.Column(title: "TIME"), TextTable.Column(title: "EVENT"),
      TextTable.Column(title: "SIZE", isRightAligned: true, canDrop: true),
      TextTable.Column(title: "EXPIRES", canDrop: true),
      TextTable.Column(title: "KEY", canShrink: true, keepsEnds: true, comfortableWidth: 24),
    ])
    for event in latest.prefix(most) {
      let entry = event.entry
      table.append([
        TextTable.Cell(event.time.timeOfDayText, .dim),
        TextTable.Cell(event.kind.rawValue, event.kind.tone),
        TextTable.Cell(ByteCount(Int64(entry.byteCount)).description),
        entry.expiryCell(at: event.time),
        TextTable.Cell(entry.keyOrNameText(style)),
      ])
    }
    return table
  }

  /// Returns the line with entries and bytes, compared with the limit if there is one.
  private func totals(_ ledger: WatchLedger, _ columns: Int) -> String {
    let bytes = ByteCount(Int64(ledger.byteCount)).description
    let head = "\(ledger.count.counted("entry")), \(bytes)"
    guard let limit else { return head.truncated(toWidth: columns) }
    let share = limit > 0 ? Int128(ledger.byteCount) * 100 / Int128(limit) : 100
    let tail = "\(share) % of \(ByteCount(limit))"
    let room = min(40, columns - head.displayWidth - tail.displayWidth - 4)
    if room < 1 { return "\(head)  \(tail)".truncated(toWidth: columns) }
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
