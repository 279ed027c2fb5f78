extension String {
  /// The columns of the text on a terminal: 2 for wide East Asian characters and emoji, 0 for
  /// combining marks. It must be escaped already, without control characters.
  var displayWidth: Int {
    utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.displayWidth }
  }

  /// Returns the text, cut to so many columns with an ellipsis at its end if it is wider.
  func truncated(toWidth width: Int) -> String {
    guard displayWidth > width else { return self }
    var text = ""
    var left = width - 1
    for character in self {
      left -= character.displayWidth
      if left < 0 { break }
      text.append(character)
    }
    // Below one column there is no room for the ellipsis either.
    return width < 1 ? "" : text + "\u{2026}"
  }

  /// Returns the text, or its beginning, an ellipsis and its end if it is wider than so many
  /// columns. If there are too few for both, it is cut at its end.
  func abridged(toWidth width: Int) -> String {
    guard displayWidth > width, width >= 8 else { return truncated(toWidth: width) }
    var left = (width - 1) / 2
    let start = truncated(toWidth: width - left)
    let end = reversed().prefix { character in
      left -= character.displayWidth
      return left >= 0
    }
    return start + String(end.reversed())
  }

  /// Returns the text with spaces after it up to a width.
  func padded(toWidth width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - displayWidth))
  }

  /// Returns the text with spaces before it up to a width.
  func aligned(toWidth width: Int) -> String {
    String(repeating: " ", count: max(0, width - displayWidth)) + self
  }
}

extension Character {
  /// The columns of the widest scalar, because the others combine with it.
  fileprivate var displayWidth: Int {
    unicodeScalars.reduce(0) { max($0, $1.displayWidth) }
  }
}

extension Unicode.Scalar {
  /// The columns of the character on a terminal, as `wcwidth` counts them.
  var displayWidth: Int {
    if isASCII { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    // The vowels and final consonants of Hangul are drawn in the leading consonant's two columns.
    if (0x1160...0x11FF).contains(value) { return 0 }
    return properties.isEmojiPresentation || isWide ? 2 : 1
  }

  /// Whether the scalar is in a block of wide characters.
  private var isWide: Bool {
    value >= 0x1100 && Self.wideRanges.contains { $0.contains(value) }
  }

  /// The blocks with East Asian Width W or F. Source: Unicode's EastAsianWidth.txt. Characters that
  /// are wide only as emoji are not listed, because a property tells them.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
    0x20000...0x3FFFD,
  ]
}

extension String {
  /// Returns the text in lines of at most so many columns, broken at spaces.
  ///
  /// A word that is wider than a line gets a line of its own. There is always at least one line.
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
  /// The number with a comma before every group of three digits: `1,234,567`.
  var grouped: String {
    var text = ""
    let digits = String(magnitude)
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return self < 0 ? "-" + text : text
  }

  /// The number with a noun in the form that goes with it: `1 entry`, `2,000 entries`.
  func counted(_ noun: String) -> String {
    if self == 1 { return "1 \(noun)" }
    let plural = noun.last == "y" ? noun.dropLast() + "ies" : noun + "s"
    return "\(grouped) \(plural)"
  }
}
