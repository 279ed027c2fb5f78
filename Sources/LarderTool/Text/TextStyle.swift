/// Whether text for people is set off by escape sequences, and how.
struct TextStyle: Sendable, Hashable {
  /// Whether the output understands escape sequences and nobody asked for none.
  let usesEscapes: Bool

  /// No escape sequences at all: what a pipe gets.
  static let plain = TextStyle(usesEscapes: false)

  /// Sets it outright.
  init(usesEscapes: Bool) {
    self.usesEscapes = usesEscapes
  }

  /// Decides from the output and two variables of the environment.
  ///
  /// `NO_COLOR` with any value but an empty one, or `TERM=dumb`, turns all of it off.
  /// Source: no-color.org.
  init(isTerminal: Bool, noColor: String?, terminal: String?) {
    usesEscapes = isTerminal && (noColor ?? "").isEmpty && terminal != "dumb"
  }

  /// A heading or a name to be found at a glance.
  func bold(_ text: String) -> String { set(text, code: 1) }

  /// Something of less weight.
  func dim(_ text: String) -> String { set(text, code: 2) }

  private func set(_ text: String, code: Int) -> String {
    usesEscapes ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
}
