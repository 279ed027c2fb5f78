import Larder

/// The streams that a command writes to, and the style of its output.
struct Console: Sendable {
  /// The style of text for people on stdout.
  let style: TextStyle
  /// The columns to fit tables into; nil if nothing is to be cut.
  let width: Int?
  /// Whether stdout is a terminal.
  let isTerminal: Bool
  /// Whether stdout is a terminal that can draw lines again in place.
  var redrawsLines: Bool { style.usesBlocks }
  /// Whether stderr is a terminal that can erase a line.
  let showsProgress: Bool

  /// Creates a console from the process's streams and environment.
  ///
  /// `COLUMNS` wins over the terminal's own width, as with `ls` and `ps`. In a pipe it is ignored,
  /// because a script must not get cut keys from an exported variable.
  init() {
    isTerminal = StandardStream.output.isTerminal
    let terminal = SystemEnvironment.variable("TERM")
    let columns = SystemEnvironment.variable("COLUMNS").flatMap { Int($0) }
    let asked = columns.flatMap { $0 > 0 ? $0 : nil }
    width = isTerminal ? asked ?? StandardStream.output.columnCount ?? 80 : nil
    showsProgress = StandardStream.error.isTerminal && terminal != "dumb"
    style = TextStyle(
      isTerminal: isTerminal, noColor: SystemEnvironment.variable("NO_COLOR"), terminal: terminal)
  }

  private init(style: TextStyle, width: Int?, isTerminal: Bool, showsProgress: Bool) {
    self.style = style
    self.width = width
    self.isTerminal = isTerminal
    self.showsProgress = showsProgress
  }

  /// The same streams without a terminal: no colour, nothing cut, nothing suggested.
  var plain: Console {
    Console(style: .plain, width: nil, isTerminal: false, showsProgress: false)
  }

  /// Prints data to stdout.
  func print(_ text: String) throws(Failure) {
    do throws(Errno) {
      try StandardStream.output.write(text)
    } catch .brokenPipe {
      // `larder list DIR | head` is no failure, so there is no message.
      throw .brokenPipe
    } catch {
      throw Failure(error, doing: "write to stdout")
    }
  }

  /// Prints an object to stdout.
  func print(_ json: JSONValue) throws(Failure) {
    try print(json.text)
  }

  /// Prints lines to stdout.
  func print(_ lines: [String]) throws(Failure) {
    try print(lines.map { $0 + "\n" }.joined())
  }

  /// Writes a sentence to stderr.
  ///
  /// An error of this write is ignored, because the exit status still tells the result.
  func say(_ sentence: String) {
    talk("larder: \(sentence)\n")
  }

  /// Writes text to stderr unchanged. Ignores errors, as ``say(_:)`` does.
  func talk(_ text: String) {
    do throws(Errno) {
      try StandardStream.error.write(text)
    } catch {
      // Ignored: see `say(_:)`.
    }
  }
}
