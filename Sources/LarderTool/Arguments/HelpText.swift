/// A builder of a help text within a width: a headline, then headed lists and paragraphs.
struct HelpText: Sendable {
  /// The text so far, which ends in a newline.
  private(set) var text = ""
  private let width: Int
  private let style: TextStyle

  /// Creates an empty text. Its lines are as wide as the terminal, but between 40 and 100 columns.
  init(width: Int, style: TextStyle) {
    self.width = min(max(width, 40), 100)
    self.style = style
  }

  /// Adds a paragraph.
  mutating func paragraph(_ sentence: String) {
    separate()
    for line in sentence.wrapped(toWidth: width) { text += line + "\n" }
  }

  /// Adds a heading and a sentence on one line. Further lines are indented to the sentence.
  mutating func line(_ heading: String, _ content: String) {
    separate()
    let indent = heading.displayWidth + 2
    let lines = content.wrapped(toWidth: width - indent)
    text += style.bold(heading + ":") + " " + lines[0] + "\n"
    for line in lines.dropFirst() { text += String(repeating: " ", count: indent) + line + "\n" }
  }

  /// Adds a heading and a list of terms with their meanings, aligned. Adds nothing for no items.
  mutating func list(_ heading: String, _ items: [(term: String, meaning: String)]) {
    guard !items.isEmpty else { return }
    separate()
    text += style.bold(heading + ":") + "\n"
    // Limited, so that one long term does not push all meanings to the right.
    let indent = min(24, items.map(\.term.displayWidth).max() ?? 0) + 4
    for item in items { add(item.term, item.meaning, indent: indent) }
  }

  /// Adds one term, and its meaning in the next column.
  private mutating func add(_ term: String, _ meaning: String, indent: Int) {
    let lines = meaning.wrapped(toWidth: width - indent)
    let margin = String(repeating: " ", count: indent)
    // A term that is too wide for its column gets a line of its own.
    let isNarrow = term.displayWidth <= indent - 4
    text += isNarrow ? "  \(term)".padded(toWidth: indent) + lines[0] : "  \(term)"
    for line in lines.dropFirst(isNarrow ? 1 : 0) { text += "\n" + margin + line }
    text += "\n"
  }

  /// Adds an empty line, except before the first section.
  private mutating func separate() {
    if !text.isEmpty { text += "\n" }
  }
}
