/// A mistake on the command line: exit status 2.
struct UsageError: Error, Sendable {
  /// The mistake, and the remedy if there is one.
  let message: String
  /// The verb of the command line; nil if it was not recognised.
  let verb: Verb?

  /// Creates an error. The message begins in lower case and has no full stop.
  init(_ message: String, verb: Verb? = nil) {
    self.message = message
    self.verb = verb
  }

  private var command: String { verb.map { "larder \($0.name)" } ?? "larder" }

  /// The object for scripts, with the same message.
  var problem: Problem {
    Problem(
      exitCode: .usage, code: "usage", what: "\(command): \(message)", cure: "\(command) --help")
  }

  /// The lines for stderr, with a newline at the end.
  var text: String {
    "\(command): \(message)\nSee: \(command) --help\n"
  }
}

extension UsageError {
  /// Returns the error for a first argument that is no verb.
  static func unknownVerb(_ name: [UInt8]) -> UsageError {
    let guess = Verb.suggestion(for: name).map { "; did you mean \($0)?" } ?? ""
    return UsageError("there is no verb \(name.quotedForDisplay)\(guess)")
  }

  /// Returns the error for an argument with dashes that is no option of any verb.
  static func unknownOption(_ bytes: [UInt8], of verb: Verb?) -> UsageError {
    let name = String(decoding: bytes.drop { $0 == UInt8(ascii: "-") }, as: UTF8.self)
    let known = verb?.options.map(\.name) ?? [Option.help.name, Option.version.name]
    let guess = Spelling.nearest(to: name, among: known).map { "did you mean --\($0)?" }
    let cure = guess ?? "an argument that begins with a dash goes after --"
    return UsageError("there is no option \(bytes.quotedForDisplay); \(cure)", verb: verb)
  }

  /// Returns the error for an option that only other verbs have.
  static func foreign(_ option: Option, of verb: Verb) -> UsageError {
    let owners = Verb.all.filter { $0.option(named: option.name) != nil }.map(\.name)
    let note = owners.isEmpty ? "stands without a verb" : "is for \(owners.joined(separator: ", "))"
    return UsageError("there is no option --\(option.name) here; it \(note)", verb: verb)
  }

  /// Returns the error for an operand that was left out.
  static func missing(_ operand: Operand, of verb: Verb) -> UsageError {
    UsageError("\(operand.placeholder) is missing: \(verb.usage)", verb: verb)
  }

  /// Returns the error for an empty path.
  static func empty(_ operand: Operand, of verb: Verb) -> UsageError {
    UsageError("\(operand.placeholder) is empty: \(verb.usage)", verb: verb)
  }

  /// Returns the error for an argument after the last operand.
  static func surplus(_ argument: [UInt8], of verb: Verb) -> UsageError {
    UsageError("\(argument.quotedForDisplay) is one argument too many: \(verb.usage)", verb: verb)
  }
}
