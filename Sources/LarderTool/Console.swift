import Larder

/// Where a command prints, and how.
struct Console: Sendable {
  /// How text for people is set off on stdout.
  let style: TextStyle
  /// The columns to fit tables into, nil where nothing is to be cut.
  let width: Int?
  /// Whether a person watches stdout.
  let isTerminal: Bool
  /// Whether a person watches stderr on a terminal that can take a line back.
  let showsProgress: Bool

  /// Looks at the process's streams and environment.
  ///
  /// `COLUMNS` wins over what the terminal says, as with `ls` and `ps`; in a pipe it counts for
  /// nothing, since a script must not lose a part of a key to an exported variable.
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

  /// The same streams as if nobody watched: no colour, nothing cut, nothing suggested.
  var plain: Console {
    Console(style: .plain, width: nil, isTerminal: false, showsProgress: false)
  }

  /// Prints data to stdout.
  func print(_ text: String) throws(Failure) {
    do throws(Errno) {
      try StandardStream.output.write(text)
    } catch .brokenPipe {
      // `larder list DIR | head` is no failure, and nobody wants to read of it.
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

  /// Says a sentence on stderr.
  ///
  /// Where that fails nobody is left to be told; the exit status still says it.
  func say(_ sentence: String) {
    talk("larder: \(sentence)\n")
  }

  /// Writes talk to stderr as it is.
  func talk(_ text: String) {
    do throws(Errno) {
      try StandardStream.error.write(text)
    } catch {
      // See above.
    }
  }
}
