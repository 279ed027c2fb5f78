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
