/// The output of a command line that needs no cache: help, the version, or a usage error.
struct Answer: Sendable, Hashable {
  /// The help or the version that was asked for.
  var standardOutput = ""
  /// The message about a usage error.
  var standardError = ""
  var exitCode = ExitCode.fine

  /// Creates the answer to a request for help or the version. Returns nil for a verb.
  init?(_ request: Request, width: Int, style: TextStyle) {
    switch request {
    case .run: return nil
    case .help(let verb?): standardOutput = verb.helpText(width: width, style: style)
    // Help that was asked for is data: `larder --help | less` shows it.
    case .help(nil): standardOutput = Verb.overview(width: width, style: style)
    case .version(isJSON: true): standardOutput = Version.json.text
    case .version(isJSON: false): standardOutput = Version.line + "\n"
    }
  }

  /// Creates the answer to a command line that cannot be understood. With `--json` its object is on
  /// stdout too.
  init(_ error: UsageError, isJSON: Bool = false) {
    standardError = error.text
    let json = error.problem.json
    if isJSON { standardOutput = error.verb?.printsLines == true ? json.line : json.text }
    exitCode = .usage
  }
}
