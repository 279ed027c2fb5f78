/// A help text in the making: a headline, then headed lists and paragraphs, within a width.
struct HelpText: Sendable {
  /// What was added so far, ending in a newline.
  private(set) var text = ""
  private let width: Int
  private let style: TextStyle

  /// Starts a text for a terminal of so many columns; lines stay between 40 and 100 wide.
  init(width: Int, style: TextStyle) {
    self.width = min(max(width, 40), 100)
    self.style = style
  }

  /// Adds a paragraph.
  mutating func paragraph(_ sentence: String) {
    separate()
    for line in sentence.wrapped(toWidth: width) { text += line + "\n" }
  }

  /// Adds a line with a heading in front; what does not fit hangs below its beginning.
  mutating func line(_ heading: String, _ content: String) {
    separate()
    let indent = heading.displayWidth + 2
    let lines = content.wrapped(toWidth: width - indent)
    text += style.bold(heading + ":") + " " + lines[0] + "\n"
    for line in lines.dropFirst() { text += String(repeating: " ", count: indent) + line + "\n" }
  }

  /// Adds a headed list of terms and what they mean, aligned; nothing when it is empty.
  mutating func list(_ heading: String, _ items: [(term: String, meaning: String)]) {
    guard !items.isEmpty else { return }
    separate()
    text += style.bold(heading + ":") + "\n"
    // One long term must not push all meanings to the right.
    let indent = min(24, items.map(\.term.displayWidth).max() ?? 0) + 4
    for item in items { add(item.term, item.meaning, indent: indent) }
  }

  /// Adds one term and, in a column of its own, what it means.
  private mutating func add(_ term: String, _ meaning: String, indent: Int) {
    let lines = meaning.wrapped(toWidth: width - indent)
    let margin = String(repeating: " ", count: indent)
    // A term too wide for its column has a line of its own.
    let isNarrow = term.displayWidth <= indent - 4
    text += isNarrow ? "  \(term)".padded(toWidth: indent) + lines[0] : "  \(term)"
    for line in lines.dropFirst(isNarrow ? 1 : 0) { text += "\n" + margin + line }
    text += "\n"
  }

  /// An empty line between sections, none before the first.
  private mutating func separate() {
    if !text.isEmpty { text += "\n" }
  }
}
