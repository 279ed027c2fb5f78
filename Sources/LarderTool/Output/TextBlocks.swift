/// Blocks of lines beside each other where they fit, and below each other where they do not.
enum TextBlocks {
  private static let gap = 4

  /// The lines of the blocks within a terminal's columns; below each other when there is none.
  ///
  /// The lines may hold escape sequences, which take no columns.
  static func arranged(_ blocks: [[String]], width: Int?) -> [String] {
    let widths = blocks.map { $0.map(\.visibleWidth).max() ?? 0 }
    let total = widths.reduce(gap * max(0, blocks.count - 1), +)
    guard let width, total <= width else { return Array(blocks.joined(separator: [""])) }
    let height = blocks.map(\.count).max() ?? 0
    return (0..<height).map { row in
      var line = ""
      var column = 0
      var start = 0
      for (block, width) in zip(blocks, widths) {
        if row < block.count, !block[row].isEmpty {
          line += String(repeating: " ", count: start - column) + block[row]
          column = start + block[row].visibleWidth
        }
        start += width + gap
      }
      return line
    }
  }
}

extension String {
  /// The columns that the text takes without its escape sequences.
  var visibleWidth: Int {
    guard utf8.contains(0x1b) else { return displayWidth }
    var text = ""
    var isEscape = false
    for character in self {
      if character == "\u{1b}" { isEscape = true }
      if !isEscape { text.append(character) }
      // Only sequences that set a tone are in our lines, and they end in m.
      if isEscape, character == "m" { isEscape = false }
    }
    return text.displayWidth
  }
}
