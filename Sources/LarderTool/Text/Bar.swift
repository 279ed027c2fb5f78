/// A bar of characters that shows a share of a whole.
enum Bar {
  private static let eighths = [
    "", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}",
  ]

  /// Returns the bar for a part of a whole, at most `width` columns long; empty for zero.
  ///
  /// With blocks it is exact to an eighth of a column, otherwise to a whole one. A part above zero
  /// gets at least the smallest mark.
  static func text(_ part: UInt64, of whole: UInt64, width: Int, style: TextStyle) -> String {
    guard part > 0, whole > 0, width > 0 else { return "" }
    let steps = style.usesBlocks ? 8 : 1
    // 128 bits, because the product of a large part and the width can exceed 64.
    let exact = Int128(min(part, whole)) * Int128(width * steps)
    let length = max(1, Int((exact + Int128(whole) / 2) / Int128(whole)))
    guard style.usesBlocks else { return String(repeating: "#", count: length) }
    return String(repeating: "\u{2588}", count: length / 8) + eighths[length % 8]
  }
}
