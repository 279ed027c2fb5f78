import Larder

/// The whole command, from its arguments to its exit status.
enum Command {
  /// Runs a command line. The first argument is the program's name.
  static func run(_ arguments: [[UInt8]], _ console: Console) -> UInt8 {
    let arguments = arguments.dropFirst()
    do throws(UsageError) {
      let request = try Request(arguments)
      if case .run(let verb, let arguments) = request {
        let console = arguments.has(.plain) ? console.plain : console
        return try run(verb, Call(arguments: arguments, console: console))
      }
      return answer(Answer(request, width: console.width ?? 80, style: console.style), console)
    } catch {
      // The line could not be parsed, so the flag is looked for as it was typed.
      let isJSON = arguments.prefix { $0 != Array("--".utf8) }.contains(Array("--json".utf8))
      return answer(Answer(error, isJSON: isJSON), console)
    }
  }

  /// Runs a verb.
  private static func run(_ verb: Verb, _ call: Call) throws(UsageError) -> UInt8 {
    do throws(Failure) {
      return try verb.run(call).rawValue
    } catch {
      // Reported like a mistake that was found while parsing, although it needed a look at the
      // directory.
      if case .usage(let message) = error { throw UsageError(message, verb: verb) }
      if case .problem(let problem) = error, call.isJSON { print(problem, of: verb, call.console) }
      return status(of: error, call.console)
    }
  }

  /// Prints the object that `--json` promises for a failure too.
  private static func print(_ problem: Problem, of verb: Verb, _ console: Console) {
    do throws(Failure) {
      try console.print(verb.printsLines ? problem.json.line : problem.json.text)
    } catch {
      // Ignored: stdout may be the very thing that failed. The sentence and the status tell it.
    }
  }

  /// Writes a failure to stderr and returns the exit status. A broken pipe is not written.
  private static func status(of failure: Failure, _ console: Console) -> UInt8 {
    switch failure {
    case .usage(let sentence):
      console.say(sentence)
      return ExitCode.usage.rawValue
    case .problem(let problem):
      console.say(problem.sentence)
      return problem.exitCode.rawValue
    case .brokenPipe: return CommandProcess.brokenPipeStatus
    }
  }

  /// Writes an answer and returns the exit status.
  private static func answer(_ answer: Answer?, _ console: Console) -> UInt8 {
    guard let answer else { return ExitCode.fine.rawValue }
    console.talk(answer.standardError)
    do throws(Failure) {
      try console.print(answer.standardOutput)
      return answer.exitCode.rawValue
    } catch {
      return status(of: error, console)
    }
  }
}

/// The output of `larder --version`.
enum Version {
  /// The release, a semantic version.
  static let current = "0.1.0"
  /// The version of the directory's format that this release reads and writes.
  static let format = 1

  /// The line for people.
  static var line: String { "larder \(current) (directory format \(format))" }

  /// The object for scripts.
  static var json: JSONValue {
    ["schema": 1, "version": .string(current), "format": .integer(Int128(format))]
  }
}
