/// A table with titles. Columns are as wide as their content.
///
/// Widths are those of a terminal. The cells must be escaped already.
struct TextTable: Sendable {
  /// The title and the layout of a column.
  struct Column: Sendable {
    /// The title on the first line.
    let title: String
    /// Whether its cells are aligned to the right, as numbers should be.
    var isRightAligned = false
    /// Whether its cells may be cut if the terminal is too narrow.
    var canShrink = false
    /// Whether its cells are cut in the middle, for texts that differ at their ends.
    var keepsEnds = false
    /// The width it shrinks to first. Only then do columns shrink further.
    var comfortableWidth = 8
    /// Whether it may be left out if cutting is not enough. The one at the right goes first.
    var canDrop = false
  }

  /// The text of one cell and its colour.
  struct Cell: Sendable, Hashable, ExpressibleByStringLiteral {
    var text: String
    var tone = TextTone.plain

    init(_ text: String, _ tone: TextTone = .plain) {
      self.text = text
      self.tone = tone
    }

    init(stringLiteral text: String) { self.init(text) }
  }

  /// The columns from left to right.
  let columns: [Column]
  private var rows: [[Cell]] = []

  /// Creates a table without rows.
  init(columns: [Column]) {
    self.columns = columns
  }

  /// Adds a row. Missing cells are empty, surplus ones dropped.
  mutating func append(_ cells: [Cell]) {
    let missing = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: "", count: missing))
  }

  /// Adds a row of texts without colours.
  mutating func append(_ texts: [String]) {
    append(texts.map { Cell($0) })
  }

  /// Returns the lines, the titles first. They are no wider than the terminal, because the view of
  /// a live page would be lost in lines that the terminal breaks.
  ///
  /// - Parameter width: The terminal's columns; nil cuts nothing, as for a pipe.
  func lines(width: Int?, style: TextStyle = .plain) -> [String] {
    let widths = fitted(to: width)
    let titles = line(columns.map { Cell($0.title) }, widths, .plain)
    return [style.bold(titles)] + rows.map { line($0, widths, style) }
  }
}

extension TextTable {
  private static let gap = "  "
  private static let leastWidth = 8

  /// The widths at which nothing is cut.
  private var naturalWidths: [Int] {
    rows.reduce(into: columns.map(\.title.displayWidth)) { widths, row in
      for (index, cell) in row.enumerated() {
        widths[index] = max(widths[index], cell.text.displayWidth)
      }
    }
  }

  /// Returns the widths of the columns within a terminal; nil for a column that is left out.
  private func fitted(to width: Int?) -> [Int?] {
    var widths: [Int?] = naturalWidths
    // Columns shrink to their comfortable width, then to the least width, and then are left out.
    for least in [columns.map(\.comfortableWidth), columns.map { _ in Self.leastWidth }] {
      shrink(&widths, to: width, least)
    }
    for index in columns.indices.reversed()
    where columns[index].canDrop && excess(widths, over: width) > 0 {
      widths[index] = nil
    }
    // What still does not fit is cut at the right.
    var room = width ?? .max
    for index in columns.indices {
      guard let current = widths[index] else { continue }
      widths[index] = room > 0 ? min(current, room) : nil
      room -= min(room, current + Self.gap.count)
    }
    return widths
  }

  /// Takes the excess width from the columns that can shrink, from left to right, none below its
  /// least width.
  private func shrink(_ widths: inout [Int?], to width: Int?, _ least: [Int]) {
    for index in columns.indices where columns[index].canShrink {
      guard let current = widths[index] else { continue }
      widths[index] = max(min(current, least[index]), current - max(0, excess(widths, over: width)))
    }
  }

  private func excess(_ widths: [Int?], over width: Int?) -> Int {
    guard let width else { return 0 }
    let shown = widths.compactMap(\.self)
    return shown.reduce(Self.gap.count * max(0, shown.count - 1), +) - width
  }

  private func line(_ cells: [Cell], _ widths: [Int?], _ style: TextStyle) -> String {
    let last = widths.lastIndex { $0 != nil }
    return columns.indices.compactMap { index -> String? in
      guard let width = widths[index] else { return nil }
      let cell = cells[index].text
      let text =
        columns[index].keepsEnds
        ? cell.abridged(toWidth: width) : cell.truncated(toWidth: width)
      let space = String(repeating: " ", count: max(0, width - text.displayWidth))
      // The spaces stay outside of the colour. No line ends in spaces, which would be copied along.
      let toned = style.set(text, cells[index].tone)
      if columns[index].isRightAligned { return space + toned }
      return index == last ? toned : toned + space
    }.joined(separator: Self.gap).trimmedAtEnd
  }
}

extension String {
  /// The text without the spaces at its end, which an empty last cell leaves.
  fileprivate var trimmedAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
