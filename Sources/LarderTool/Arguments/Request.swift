/// The parsed command line.
enum Request: Sendable {
  /// Run a verb.
  case run(Verb, Arguments)
  /// Show the help of a verb, or of the command if there is none.
  case help(Verb?)
  /// Show the version, as JSON or as a line.
  case version(isJSON: Bool)
}

extension Request {
  /// Parses the arguments after the program's name.
  ///
  /// The first argument that is no option is the verb. With `--help`, other mistakes are ignored.
  /// `help VERB` is the same as `VERB --help`.
  init(_ arguments: some Sequence<[UInt8]>) throws(UsageError) {
    var tokens = Array(ArgumentReader(arguments, vocabulary: Verb.vocabulary))
    let hasHelpFlag = tokens.contains { $0.isFlag(.help) }
    let wantsHelp = tokens.takeVerb(of: "help") || hasHelpFlag
    guard let name = tokens.takeOperand() else {
      self = try Self.withoutVerb(tokens, wantsHelp: wantsHelp)
      return
    }
    // Options are checked after the verb is known, because each verb has its own options.
    guard let verb = Verb.named(name) else {
      // `larder --help frob` asks for help, and `larder help frob` for help with frob.
      if hasHelpFlag {
        self = .help(nil)
        return
      }
      throw .unknownVerb(name)
    }
    self = wantsHelp ? .help(verb) : .run(verb, try Arguments(tokens, of: verb))
  }

  /// Parses a command line that consists of options alone.
  private static func withoutVerb(
    _ tokens: [ArgumentToken], wantsHelp: Bool
  ) throws(UsageError) -> Request {
    if wantsHelp { return .help(nil) }
    for case .unknown(let bytes) in tokens { throw .unknownOption(bytes, of: nil) }
    guard tokens.contains(where: { $0.isFlag(.version) }) else {
      throw UsageError("a verb is missing: \(Verb.all.map(\.name).joined(separator: ", "))")
    }
    return .version(isJSON: tokens.contains { $0.isFlag(.json) })
  }
}

extension ArgumentToken {
  fileprivate func isFlag(_ flag: Option) -> Bool {
    if case .option(let option, nil) = self { option.name == flag.name } else { false }
  }
}

extension [ArgumentToken] {
  /// Removes and returns the first operand.
  fileprivate mutating func takeOperand() -> [UInt8]? {
    for (index, token) in enumerated() {
      guard case .operand(let bytes) = token else { continue }
      remove(at: index)
      return bytes
    }
    return nil
  }

  /// Removes the first operand if it is the given word, and returns whether it was.
  fileprivate mutating func takeVerb(of word: String) -> Bool {
    var rest = self
    guard let bytes = rest.takeOperand(), bytes.elementsEqual(word.utf8) else { return false }
    self = rest
    return true
  }
}
