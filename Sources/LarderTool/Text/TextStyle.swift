/// Whether text for people is set off by escape sequences, and how.
struct TextStyle: Sendable, Hashable {
  /// Whether the output understands escape sequences and nobody asked for none.
  let usesEscapes: Bool
  /// Whether bars are drawn with block characters; with `#` otherwise.
  let usesBlocks: Bool

  /// No escape sequences at all and nothing beyond ASCII of our own: what a pipe gets.
  static let plain = TextStyle(usesEscapes: false)

  /// Sets it outright.
  init(usesEscapes: Bool, usesBlocks: Bool? = nil) {
    self.usesEscapes = usesEscapes
    self.usesBlocks = usesBlocks ?? usesEscapes
  }

  /// Decides from the output and two variables of the environment.
  ///
  /// `NO_COLOR` with any value but an empty one, or `TERM=dumb`, turns all of it off; blocks are no
  /// colours and stay under `NO_COLOR`. Source: no-color.org.
  init(isTerminal: Bool, noColor: String?, terminal: String?) {
    usesBlocks = isTerminal && terminal != "dumb"
    usesEscapes = usesBlocks && (noColor ?? "").isEmpty
  }

  /// A heading or a name to be found at a glance.
  func bold(_ text: String) -> String { set(text, .bold) }

  /// Something of less weight.
  func dim(_ text: String) -> String { set(text, .dim) }

  /// The text in a tone. No tone says anything that the words do not say too.
  func set(_ text: String, _ tone: TextTone) -> String {
    guard usesEscapes, tone != .plain, !text.isEmpty else { return text }
    return "\u{1b}[\(tone.rawValue)m\(text)\u{1b}[0m"
  }
}

/// How a piece of text is set off, by the number that a terminal knows it by. Source: ECMA-48, SGR.
///
/// The eight basic colours only: every terminal has them, and its owner has chosen what they look
/// like on its background.
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
