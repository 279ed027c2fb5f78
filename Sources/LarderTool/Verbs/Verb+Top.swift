import Larder

extension Verb {
  /// `larder top`
  static let top = Verb(
    name: "top",
    summary: "Show the largest entries, and how sizes, expiries and uses are spread",
    synonyms: ["largest", "biggest", "histogram", "summary"],
    operands: [.directory],
    ownOptions: [.first],
    notes: [
      "Without -n, the ten largest.",
      """
      On a terminal it is drawn again about every second, as large as fits, until q or Ctrl-C ends \
      it, and with status 3 when the directory is gone. In a pipe, with --plain, --json or \
      TERM=dumb, or if no keyboard is attached, it is printed once.
      """,
      """
      Once entries were evicted while it looked, a line says how many of the values that came \
      since had been there before and would have stayed in 2 and 4 times the room.
      """,
    ],
    run: { call throws(Failure) in try call.readingFixture().top() })
}

extension Call {
  /// Shows the largest entries and three histograms.
  func top() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    if console.redrawsLines && !isJSON, let keyboard = Keyboard.attached() {
      try showLive(cache, keyboard)
      return .fine
    }
    let entries = try entries(of: cache)
    sayUnreadable(entries)
    let largest = entries.sorted(by: EntryOrder.size.precedes)
      .prefix(arguments.count(.first) ?? 10)
    let spread = EntrySpread(entries, at: now)
    if isJSON {
      try console.print(spread.json(largest: largest))
    } else {
      try console.print(lines(largest, spread, at: now))
      suggestAfterTop(largest, entries, at: now)
    }
    return .fine
  }

  /// Draws the page again and again until the user ends it.
  private func showLive(
    _ cache: DiskCache, _ keyboard: borrowing Keyboard
  ) throws(Failure) {
    var (view, estimate) = (LiveView(console), RoomEstimate())
    let title = try original(of: cache).directory
    while true {
      let start = MonotonicTime.now
      guard let entries = try entries(of: cache, unlessEndedBy: keyboard) else { return }
      // The entries of a directory that was removed are none, without an error.
      if try directoryKind() == nil { throw .gone }
      let room = LiveView.room
      estimate.look(entries, at: now)
      let note = estimate.line(at: now)
      try view.draw(liveLines(entries, title, note, at: now, in: room), in: room)
      // At most a tenth of the time is spent on reading a large directory.
      let cost = MonotonicTime.now.duration(since: start)
      if keyboard.asksToEnd(within: max(.seconds(1), cost * 9)) { return }
    }
  }

  /// Returns the page that fits a terminal: totals, the largest, and the histograms beside each
  /// other, as far as there is room.
  func liveLines(
    _ entries: [DiskEntry], _ directory: String, _ note: String? = nil, at now: Timestamp,
    in room: (columns: Int, lines: Int)
  ) -> [String] {
    let spread = EntrySpread(entries, at: now)
    let style = console.style
    let size = ByteCount(Int64(clamping: spread.byteCount))
    let title = Array(directory.utf8).escapedForDisplay
    var lines = [
      style.bold(title.truncated(toWidth: room.columns)),
      "\(spread.count.counted("entry")), \(size)".truncated(toWidth: room.columns),
    ]
    let notes = note?.wrapped(toWidth: room.columns) ?? []
    lines += notes.map { $0.truncated(toWidth: room.columns) } + [""]
    let histograms = histograms(spread, columns: room.columns)
    let rest = room.lines - lines.count - histograms.count - 3
    // Without room for both, the largest are more useful.
    let count = rest >= 2 ? rest : room.lines - lines.count - 2
    let largest = entries.sorted(by: EntryOrder.size.precedes)
      .prefix(max(0, min(count, arguments.count(.first) ?? .max)))
    lines += table(largest, of: spread.byteCount, at: now).lines(width: room.columns, style: style)
    if rest >= 2, !histograms.isEmpty { lines += [""] + histograms }
    let end = style.dim("\(now.timeOfDayText) UTC; q ends".truncated(toWidth: room.columns))
    return Array(lines.prefix(max(0, room.lines - 1))) + [end]
  }

  /// Returns the histograms beside each other with the widest bars that fit; if none do, the one of
  /// expiries, and nothing if the terminal is too narrow for it.
  private func histograms(_ spread: EntrySpread, columns: Int) -> [String] {
    for barWidth in [20, 12, 8, 6, 5, 4, 3] {
      let blocks = spread.histograms.map {
        $0.lines(barWidth: barWidth, console.style, showsBytes: false)
      }
      let lines = TextBlocks.arranged(blocks, width: columns)
      // Below each other they would take the whole screen.
      if lines.count == blocks.map(\.count).max() { return lines }
    }
    let lines = spread.expiries.lines(barWidth: 6, console.style, showsBytes: false)
    return lines.allSatisfy { $0.visibleWidth <= columns } ? lines : []
  }

  private func lines(
    _ largest: ArraySlice<DiskEntry>, _ spread: EntrySpread, at now: Timestamp
  ) -> [String] {
    var lines = table(largest, of: spread.byteCount, at: now)
      .lines(width: console.width, style: console.style)
    let size = ByteCount(Int64(clamping: spread.byteCount))
    lines += ["", "\(spread.count.counted("entry")), \(size)", ""]
    let blocks = spread.histograms.map { $0.lines(barWidth: histogramBarWidth, console.style) }
    return lines + TextBlocks.arranged(blocks, width: console.width)
  }

  private func table(
    _ entries: ArraySlice<DiskEntry>, of total: UInt64, at now: Timestamp
  ) -> TextTable {
    var table = TextTable(columns: [
      TextTable.Column(title: "SIZE", isRightAligned: true),
      TextTable.Column(title: "SHARE", isRightAligned: true, canDrop: true),
      TextTable.Column(title: "", canDrop: true), TextTable.Column(title: "EXPIRES", canDrop: true),
      TextTable.Column(title: "USED", canShrink: true, comfortableWidth: 10, canDrop: true),
      TextTable.Column(title: "KEY", canShrink: true, keepsEnds: true, comfortableWidth: 24),
    ])
    let largest = UInt64(entries.first?.byteCount ?? 0)
    for entry in entries {
      let size = UInt64(entry.byteCount)
      let bar = Bar.text(size, of: largest, width: barWidth, style: console.style)
      table.append([
        TextTable.Cell(ByteCount(Int64(entry.byteCount)).description),
        TextTable.Cell(Self.share(size, of: total)), TextTable.Cell(bar, .blue),
        entry.expiryCell(at: now), TextTable.Cell(entry.useText(at: now), .dim),
        TextTable.Cell(entry.keyOrNameText(console.style)),
      ])
    }
    return table
  }

  /// The width of the bar of the largest entry: a tenth of the terminal, because keys need the most
  /// room.
  private var barWidth: Int { min(40, max(6, (console.width ?? 80) / 10)) }

  /// The width of the bars in the histograms: what the numbers leave of a third of the terminal if
  /// three fit beside each other, else of a whole line.
  private var histogramBarWidth: Int {
    let width = console.width ?? 80
    return min(40, max(6, (width >= 150 ? (width - 8) / 3 : width) - 36))
  }

  /// Returns a part in per cent, with one decimal.
  private static func share(_ part: UInt64, of whole: UInt64) -> String {
    guard whole > 0 else { return "0 %" }
    let tenths = Int128(part) * 1000 / Int128(whole)
    return "\(tenths / 10).\(tenths % 10) %"
  }

  private func suggestAfterTop(
    _ largest: ArraySlice<DiskEntry>, _ entries: [DiskEntry], at now: Timestamp
  ) {
    if entries.isEmpty { return }
    if entries.contains(where: { $0.isExpired(at: now) }) {
      suggest("expire", "--dry-run", "what has expired could go")
    } else {
      suggest("report", "-o report.html", "the same to look at in a browser")
    }
  }
}
