/// What the command says before any cache is opened: help, the version, or why not.
struct Answer: Sendable, Hashable {
  /// Data and what was asked for.
  var standardOutput = ""
  /// Talk.
  var standardError = ""
  var exitCode = ExitCode.fine

  /// Answers a request for help or the version; nil for a verb that is to be carried out.
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

  /// Answers a command line that makes no sense.
  init(_ error: UsageError) {
    standardError = error.text
    exitCode = .usage
  }
}
