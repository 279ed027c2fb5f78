/// Why a command line cannot be carried out: exit status 2.
struct UsageError: Error, Sendable {
  /// What is wrong, and the cure if there is one.
  let message: String
  /// The verb it concerns, if one was recognised.
  let verb: Verb?

  /// Creates an error; the message begins in lower case and has no full stop.
  init(_ message: String, verb: Verb? = nil) {
    self.message = message
    self.verb = verb
  }

  /// The lines for stderr, with a newline at the end.
  var text: String {
    let command = verb.map { "larder \($0.name)" } ?? "larder"
    return "\(command): \(message)\nSee: \(command) --help\n"
  }
}

extension UsageError {
  /// The first argument is no verb.
  static func unknownVerb(_ name: [UInt8]) -> UsageError {
    let guess = Verb.suggestion(for: name).map { "; did you mean \($0)?" } ?? ""
    return UsageError("there is no verb \(name.quotedForDisplay)\(guess)")
  }

  /// Something with dashes is no option of any verb.
  static func unknownOption(_ bytes: [UInt8], of verb: Verb?) -> UsageError {
    let name = String(decoding: bytes.drop { $0 == UInt8(ascii: "-") }, as: UTF8.self)
    let known = verb?.options.map(\.name) ?? [Option.help.name, Option.version.name]
    let guess = Spelling.nearest(to: name, among: known).map { "did you mean --\($0)?" }
    let cure = guess ?? "an argument that begins with a dash goes after --"
    return UsageError("there is no option \(bytes.quotedForDisplay); \(cure)", verb: verb)
  }

  /// An option belongs to other verbs.
  static func foreign(_ option: Option, of verb: Verb) -> UsageError {
    let owners = Verb.all.filter { $0.option(named: option.name) != nil }.map(\.name)
    let note = owners.isEmpty ? "stands without a verb" : "is for \(owners.joined(separator: ", "))"
    return UsageError("there is no option --\(option.name) here; it \(note)", verb: verb)
  }

  /// A place was left empty.
  static func missing(_ operand: Operand, of verb: Verb) -> UsageError {
    UsageError("\(operand.placeholder) is missing: \(verb.usage)", verb: verb)
  }

  /// A path has no characters.
  static func empty(_ operand: Operand, of verb: Verb) -> UsageError {
    UsageError("\(operand.placeholder) is empty: \(verb.usage)", verb: verb)
  }

  /// More arguments than places.
  static func surplus(_ argument: [UInt8], of verb: Verb) -> UsageError {
    UsageError("\(argument.quotedForDisplay) is one argument too many: \(verb.usage)", verb: verb)
  }
}
