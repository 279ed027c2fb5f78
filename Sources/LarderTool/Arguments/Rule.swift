/// A condition on several arguments of a verb, with one sentence for both help and errors.
struct Rule: Sendable {
  /// The sentence, in lower case and without a full stop.
  let sentence: String
  /// The rule's part of the usage line; nil if it has none.
  let usage: String?
  /// Returns whether the arguments satisfy the rule.
  let holds: @Sendable (Arguments) -> Bool

  /// Creates a rule with any condition.
  init(
    _ sentence: String, usage: String? = nil, holds: @escaping @Sendable (Arguments) -> Bool
  ) {
    self.sentence = sentence
    self.usage = usage
    self.holds = holds
  }

  /// Returns the rule that exactly one of some options is given.
  static func exactlyOne(of options: [Option]) -> Rule {
    let names = options.map { "--\($0.name)" }.joined(separator: ", ")
    let usage = options.map(\.usage).joined(separator: " | ")
    return Rule("exactly one of \(names) is needed", usage: "(\(usage))") { arguments in
      options.count { arguments.has($0) } == 1
    }
  }

  /// The rule that at most one argument is read from stdin, because a second one would find it
  /// empty.
  static let oneReaderOfStandardInput = Rule("only one of key, value and data can come from stdin")
  {
    let dash = [UInt8(ascii: "-")]
    let files = $0[.file]
    // Every second argument is the path of a value; between them are the keys of further pairs.
    // Without any, the value is read from stdin.
    let values =
      files.isEmpty
      ? [dash] : files.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    let others = [$0.file(.keyFile) == dash, $0.data(.data) == [UInt8(ascii: "@")] + dash]
    return values.count { $0 == dash } + others.count { $0 } <= 1
  }
}
