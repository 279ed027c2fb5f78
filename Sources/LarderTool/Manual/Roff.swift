/// A manual page in the making, in the language of `man`. Source: man 7 man.
struct Roff: Sendable {
  /// What was added so far.
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
    // A heading begins a paragraph by itself, and mandoc warns of a second beginning.
    if !isAfterHeading { text += ".PP\n" }
    text += Self.lines(sentence)
    isAfterHeading = false
  }

  /// Adds a term, set in bold, and what it means.
  mutating func item(_ term: String, _ meaning: String) {
    isAfterHeading = false
    text += ".TP\n\\fB\(Self.escaped(term))\\fR\n\(Self.lines(meaning))"
  }

  /// Adds lines as they are.
  mutating func example(_ lines: [String]) {
    text += (isAfterHeading ? "" : ".PP\n") + ".nf\n.RS 4\n"
    isAfterHeading = false
    for line in lines { text += Self.escaped(line) + "\n" }
    text += ".RE\n.fi\n"
  }

  /// A sentence in lines that a person can read in the source too.
  private static func lines(_ sentence: String) -> String {
    sentence.wrapped(toWidth: 72).map { escaped($0) + "\n" }.joined()
  }

  /// The text with nothing in it that the formatter would take as its own.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      // A hyphen would be typeset as one, which cannot be pasted into a shell.
      case "-": escaped += "\\-"
      case "~": escaped += "\\(ti"
      case "^": escaped += "\\(ha"
      case "'": escaped += "\\(aq"
      case "`": escaped += "\\(ga"
      default: escaped.append(character)
      }
    }
    // A line that begins with a dot would be a request.
    return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
  }
}
