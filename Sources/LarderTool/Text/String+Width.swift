extension String {
  /// The columns that a terminal gives the text: 2 for wide East Asian characters and emoji, 0 for
  /// marks that combine.
  ///
  /// The text is taken to be escaped, without control characters.
  var displayWidth: Int {
    utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.displayWidth }
  }

  /// The text, or as much of it as leaves room for an ellipsis in so many columns.
  func truncated(toWidth width: Int) -> String {
    guard displayWidth > width else { return self }
    var text = ""
    var left = width - 1
    for character in self {
      left -= character.displayWidth
      if left < 0 { break }
      text.append(character)
    }
    // No room even for the ellipsis.
    return width < 1 ? "" : text + "\u{2026}"
  }

  /// The text with spaces behind it up to a width.
  func padded(toWidth width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - displayWidth))
  }

  /// The text with spaces in front of it up to a width.
  func aligned(toWidth width: Int) -> String {
    String(repeating: " ", count: max(0, width - displayWidth)) + self
  }
}

extension Character {
  /// The columns of the widest of its scalars: what follows the first combines with it.
  fileprivate var displayWidth: Int {
    unicodeScalars.reduce(0) { max($0, $1.displayWidth) }
  }
}
