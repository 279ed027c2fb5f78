/// A builder of a manual page in the format of `man`. Source: man 7 man.
struct Roff: Sendable {
  /// The text so far.
  private(set) var text: String
  private var isAfterHeading = false

  /// Starts a page of section 1.
  init(title: String, source: String) {
    text = ".TH \(title) 1 \"\" \"\(source)\" \"User Commands\"\n.nh\n.ad l\n"
  }

  /// Starts a section.
  mutating func section(_ name: String) {
    text += ".SH \(name)\n"
    isAfterHeading = true
  }

  /// Starts a part of a section.
  mutating func part(_ name: String) {
    text += ".SS \(Self.escaped(name))\n"
    isAfterHeading = true
  }

  /// Adds a paragraph.
  mutating func paragraph(_ sentence: String) {
    // A heading begins a paragraph by itself; mandoc warns of a second `.PP`.
    if !isAfterHeading { text += ".PP\n" }
    text += Self.lines(sentence)
    isAfterHeading = false
  }

  /// Adds a term in bold, and its meaning.
  mutating func item(_ term: String, _ meaning: String) {
    isAfterHeading = false
    text += ".TP\n\\fB\(Self.escaped(term))\\fR\n\(Self.lines(meaning))"
  }

  /// Adds lines without wrapping them.
  mutating func example(_ lines: [String]) {
    text += (isAfterHeading ? "" : ".PP\n") + ".nf\n.RS 4\n"
    isAfterHeading = false
    for line in lines { text += Self.escaped(line) + "\n" }
    text += ".RE\n.fi\n"
  }

  /// Wraps a sentence to 72 columns, so that the source is readable too.
  private static func lines(_ sentence: String) -> String {
    sentence.wrapped(toWidth: 72).map { escaped($0) + "\n" }.joined()
  }

  /// Returns the text with the formatter's special characters escaped.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      // A plain `-` is typeset as a hyphen, which a shell does not take for a minus.
      case "-": escaped += "\\-"
      case "~": escaped += "\\(ti"
      case "^": escaped += "\\(ha"
      case "'": escaped += "\\(aq"
      case "`": escaped += "\\(ga"
      default: escaped.append(character)
      }
    }
    // A line that begins with a dot is a request to the formatter.
    return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
  }
}
