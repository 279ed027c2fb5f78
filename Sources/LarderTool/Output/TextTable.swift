/// Rows of text under titles, in columns as wide as their content needs.
///
/// Widths are those of a terminal; the cells are taken to be escaped.
struct TextTable: Sendable {
  /// One column and how its cells stand.
  struct Column: Sendable {
    /// What the first line says.
    let title: String
    /// Whether its cells end together, as numbers should.
    var isRightAligned = false
    /// Whether its cells may be cut where the terminal is too narrow.
    var canShrink = false
    /// What it shrinks to before any column goes further.
    var comfortableWidth = 8
    /// Whether it may be left out where cutting is not enough.
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

  /// Starts a table without rows.
  init(columns: [Column]) {
    self.columns = columns
  }

  /// Adds a row; missing cells are empty and surplus ones dropped.
  mutating func append(_ cells: [Cell]) {
    let missing = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: "", count: missing))
  }

  /// Adds a row of texts without colours.
  mutating func append(_ texts: [String]) {
    append(texts.map { Cell($0) })
  }

  /// The lines with the titles first, none wider than the terminal if shrinking and leaving out can
  /// prevent it.
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

  /// The columns' widths within a terminal's; nil for one that is left out.
  private func fitted(to width: Int?) -> [Int?] {
    var widths: [Int?] = naturalWidths
    // First to what is comfortable, then as far as it goes, and only then without a column.
    for least in [columns.map(\.comfortableWidth), columns.map { _ in Self.leastWidth }] {
      shrink(&widths, to: width, least)
    }
    for index in columns.indices where columns[index].canDrop && excess(widths, over: width) > 0 {
      widths[index] = nil
    }
    return widths
  }

  /// Takes the excess from the columns that can shrink, the first first, none below its least
  /// width.
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
      let text = cells[index].text.truncated(toWidth: width)
      let space = String(repeating: " ", count: max(0, width - text.displayWidth))
      // The spaces stay outside of the colour, and none end a line, which a copy would carry along.
      let toned = style.set(text, cells[index].tone)
      if columns[index].isRightAligned { return space + toned }
      return index == last ? toned : toned + space
    }.joined(separator: Self.gap).trimmedAtEnd
  }
}

extension String {
  /// The text without spaces at its end, which an empty last cell leaves.
  fileprivate var trimmedAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
