import Larder

/// Where a command prints, and how.
struct Console: Sendable {
  /// How text for people is set off on stdout.
  let style: TextStyle
  /// The columns of the terminal on stdout, nil where it is none.
  let width: Int?
  /// Whether a person watches stdout.
  let isTerminal: Bool

  /// Looks at the process's streams and environment.
  init() {
    isTerminal = StandardStream.output.isTerminal
    width = StandardStream.output.columnCount
    style = TextStyle(
      isTerminal: isTerminal, noColor: SystemEnvironment.variable("NO_COLOR"),
      terminal: SystemEnvironment.variable("TERM"))
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
