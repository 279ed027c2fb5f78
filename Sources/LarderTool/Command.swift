import Larder

/// The command from its arguments to its exit status.
enum Command {
  /// Carries out a command line, whose first argument is the program's own name.
  static func run(_ arguments: [[UInt8]], _ console: Console) -> UInt8 {
    do throws(UsageError) {
      let request = try Request(arguments.dropFirst())
      if case .run(let verb, let arguments) = request {
        let console = arguments.has(.plain) ? console.plain : console
        return try run(verb, Call(arguments: arguments, console: console))
      }
      return answer(Answer(request, width: console.width ?? 80, style: console.style), console)
    } catch {
      return answer(Answer(error), console)
    }
  }

  /// Carries out a verb.
  private static func run(_ verb: Verb, _ call: Call) throws(UsageError) -> UInt8 {
    do throws(Failure) {
      return try verb.run(call).rawValue
    } catch {
      // Found late, by looking at the directory, and said in the same words as what is found early.
      if case .usage(let message) = error { throw UsageError(message, verb: verb) }
      return status(of: error, call.console)
    }
  }

  /// Says what went wrong, if there is anybody to be told, and how the process shall end.
  private static func status(of failure: Failure, _ console: Console) -> UInt8 {
    switch failure {
    case .usage(let sentence):
      console.say(sentence)
      return ExitCode.usage.rawValue
    case .problem(let exitCode, let sentence):
      console.say(sentence)
      return exitCode.rawValue
    case .brokenPipe: return CommandProcess.brokenPipeStatus
    }
  }

  /// Says what needs no cache.
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

/// What `larder --version` says.
enum Version {
  /// The release, by the rules of semantic versioning.
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
