/// The use of escape sequences and block characters in text for people.
struct TextStyle: Sendable, Hashable {
  /// Whether escape sequences are used: the output understands them, and the environment allows
  /// them.
  let usesEscapes: Bool
  /// Whether bars are drawn with block characters instead of `#`.
  let usesBlocks: Bool

  /// The style for a pipe: no escape sequences, and no block characters.
  static let plain = TextStyle(usesEscapes: false)

  /// Creates a style. Without `usesBlocks`, blocks are used if escape sequences are.
  init(usesEscapes: Bool, usesBlocks: Bool? = nil) {
    self.usesEscapes = usesEscapes
    self.usesBlocks = usesBlocks ?? usesEscapes
  }

  /// Creates the style for an output and two variables of the environment.
  ///
  /// Without a terminal, or with `TERM=dumb`, neither is used. `NO_COLOR` with any value but an
  /// empty one turns off escape sequences only, because blocks are no colours. Source:
  /// no-color.org.
  init(isTerminal: Bool, noColor: String?, terminal: String?) {
    usesBlocks = isTerminal && terminal != "dumb"
    usesEscapes = usesBlocks && (noColor ?? "").isEmpty
  }

  /// Returns the text in bold, for headings and names.
  func bold(_ text: String) -> String { set(text, .bold) }

  /// Returns the text dimmed, for less important details.
  func dim(_ text: String) -> String { set(text, .dim) }

  /// Returns the text in a tone. The words must say everything that the tone says.
  func set(_ text: String, _ tone: TextTone) -> String {
    guard usesEscapes, tone != .plain, !text.isEmpty else { return text }
    return "\u{1b}[\(tone.rawValue)m\(text)\u{1b}[0m"
  }
}

/// A colour or weight of text; the raw value is the terminal's code. Source: ECMA-48, SGR.
///
/// Only the eight basic colours are used: every terminal has them, and users can adapt them to
/// their background.
enum TextTone: Int, Sendable, Hashable {
  case plain = 0
  case bold = 1
  case dim = 2
  case red = 31
  case green = 32
  case yellow = 33
  case blue = 34
  case cyan = 36
}
