/// The layout of blocks of lines: beside each other if they fit, else below each other.
enum TextBlocks {
  private static let gap = 4

  /// Returns the lines of the blocks within a terminal's columns. A nil width puts the blocks below
  /// each other.
  ///
  /// The lines may contain escape sequences, which take no columns.
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
  /// The columns of the text without its escape sequences.
  var visibleWidth: Int {
    guard utf8.contains(0x1b) else { return displayWidth }
    var text = ""
    var isEscape = false
    for character in self {
      if character == "\u{1b}" { isEscape = true }
      if !isEscape { text.append(character) }
      // The tool's lines contain only sequences that set a tone, and these end in m.
      if isEscape, character == "m" { isEscape = false }
    }
    return text.displayWidth
  }
}
