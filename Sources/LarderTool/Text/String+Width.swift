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

extension Unicode.Scalar {
  /// The columns that a terminal gives the character, as `wcwidth` counts them.
  var displayWidth: Int {
    if isASCII { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    // The vowels and final consonants of Hangul join the leading consonant's two columns.
    if (0x1160...0x11FF).contains(value) { return 0 }
    return properties.isEmojiPresentation || isWide ? 2 : 1
  }

  /// Whether a block of wide characters holds it.
  private var isWide: Bool {
    value >= 0x1100 && Self.wideRanges.contains { $0.contains(value) }
  }

  /// East Asian Width W and F, in blocks. Source: Unicode's EastAsianWidth.txt; what is wide only
  /// as an emoji is known by its property.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
    0x20000...0x3FFFD,
  ]
}

extension String {
  /// The text in lines of at most so many columns, broken at spaces.
  ///
  /// A word that is wider than a line gets one to itself. There is always at least one line.
  func wrapped(toWidth width: Int) -> [String] {
    var lines = [""]
    for word in split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if line.displayWidth + 1 + String(word).displayWidth <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}

extension BinaryInteger {
  /// The number with a comma before every group of three digits, as people read it: `1,234,567`.
  var grouped: String {
    var text = ""
    let digits = String(magnitude)
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return self < 0 ? "-" + text : text
  }
}
