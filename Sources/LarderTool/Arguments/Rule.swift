/// Something that a verb's arguments have to satisfy together, said once for help and errors.
struct Rule: Sendable {
  /// The sentence, in lower case and without a full stop.
  let sentence: String
  /// What the usage line shows of it, if anything.
  let usage: String?
  /// Tells whether the arguments satisfy it.
  let holds: @Sendable (Arguments) -> Bool

  /// Creates a rule of the caller's own.
  init(
    _ sentence: String, usage: String? = nil, holds: @escaping @Sendable (Arguments) -> Bool
  ) {
    self.sentence = sentence
    self.usage = usage
    self.holds = holds
  }

  /// One of the options has to be given and no second one.
  static func exactlyOne(of options: [Option]) -> Rule {
    let names = options.map { "--\($0.name)" }.joined(separator: ", ")
    let usage = options.map(\.usage).joined(separator: " | ")
    return Rule("exactly one of \(names) is needed", usage: "(\(usage))") { arguments in
      options.count { arguments.has($0) } == 1
    }
  }

  /// Only one source can be stdin; a second one would find it empty.
  static let oneReaderOfStandardInput = Rule("only one of key and values can come from stdin") {
    let dash = [UInt8(ascii: "-")]
    let files = $0[.file]
    // The values stand in every second place, with the keys of further pairs between them; without
    // any, the value is stdin.
    let values =
      files.isEmpty
      ? [dash] : files.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    return values.count { $0 == dash } + ($0.file(.keyFile) == dash ? 1 : 0) <= 1
  }
}
