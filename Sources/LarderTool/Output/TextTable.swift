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
  }

  /// The columns from left to right.
  let columns: [Column]
  private var rows: [[String]] = []

  /// Starts a table without rows.
  init(columns: [Column]) {
    self.columns = columns
  }

  /// Adds a row; missing cells are empty and surplus ones dropped.
  mutating func append(_ cells: [String]) {
    let missing = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: "", count: missing))
  }

  /// The lines with the titles first, none wider than the terminal if shrinking can prevent it.
  ///
  /// - Parameter width: The terminal's columns; nil cuts nothing, as for a pipe.
  func lines(width: Int?, style: TextStyle = .plain) -> [String] {
    let widths = shrunk(naturalWidths, to: width)
    let titles = style.bold(line(columns.map(\.title), widths))
    return [titles] + rows.map { line($0, widths) }
  }

  private static let gap = "  "
  private static let leastShrunkWidth = 8

  /// The widths at which nothing is cut.
  private var naturalWidths: [Int] {
    rows.reduce(into: columns.map(\.title.displayWidth)) { widths, row in
      for (index, cell) in row.enumerated() {
        widths[index] = max(widths[index], cell.displayWidth)
      }
    }
  }

  /// The widths with the excess taken from the first column that can shrink.
  private func shrunk(_ widths: [Int], to width: Int?) -> [Int] {
    let gaps = Self.gap.count * max(0, columns.count - 1)
    let excess = widths.reduce(gaps, +) - (width ?? .max)
    guard excess > 0, let index = columns.firstIndex(where: \.canShrink) else { return widths }
    var widths = widths
    widths[index] = max(min(widths[index], Self.leastShrunkWidth), widths[index] - excess)
    return widths
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    let last = columns.count - 1
    return columns.indices.map { index in
      let cell = cells[index].truncated(toWidth: widths[index])
      if columns[index].isRightAligned { return cell.aligned(toWidth: widths[index]) }
      // No spaces at the end of lines, which a copied line would carry along.
      return index == last ? cell : cell.padded(toWidth: widths[index])
    }.joined(separator: Self.gap)
  }
}
