extension Arguments {
  /// Reads the arguments after the verb and checks them against the verb's table.
  init(_ tokens: some Sequence<ArgumentToken>, of verb: Verb) throws(UsageError) {
    self.init()
    var loose: [[UInt8]] = []
    for token in tokens {
      switch token {
      case .operand(let bytes): loose.append(bytes)
      case .option(let option, let value): try add(option, value, of: verb)
      case .unknown(let bytes): throw .unknownOption(bytes, of: verb)
      }
    }
    try bind(loose, of: verb)
    for rule in verb.rules where !rule.holds(self) {
      throw UsageError(rule.sentence, verb: verb)
    }
  }

  /// Keeps one option with its value.
  private mutating func add(
    _ option: Option, _ value: [UInt8]?, of verb: Verb
  ) throws(UsageError) {
    guard verb.option(named: option.name) != nil else { throw .foreign(option, of: verb) }
    // A repeated flag is harmless, but two values contradict each other.
    guard set(option, try Self.value(of: option, value, verb: verb)) else {
      throw UsageError("--\(option.name) is given twice", verb: verb)
    }
  }

  /// Reads the value of one option.
  private static func value(
    of option: Option, _ bytes: [UInt8]?, verb: Verb
  ) throws(UsageError) -> OptionValue {
    switch (option.kind, bytes) {
    case (.flag, nil): return .flag
    case (.flag, _?):
      let cure = "an argument that begins with a dash goes after --"
      throw UsageError("--\(option.name) takes no value; \(cure)", verb: verb)
    case (_, nil): throw UsageError("\(option.usage): the value is missing", verb: verb)
    case (_, let bytes?):
      do throws(ValueError) {
        return try option.kind.parse(bytes)
      } catch {
        throw UsageError("--\(option.name): \(error)", verb: verb)
      }
    }
  }

  /// Assigns the arguments without dashes to the verb's operands, front to back.
  private mutating func bind(_ loose: [[UInt8]], of verb: Verb) throws(UsageError) {
    var rest = loose[...]
    // With --key-file there is no KEY, so the next argument belongs to the next operand.
    for operand in verb.operands where operand.role != .key || !has(.keyFile) {
      let taken = rest.prefix(operand.counts.upperBound)
      guard taken.count >= operand.counts.lowerBound else { throw .missing(operand, of: verb) }
      // A key may be empty; a path may not.
      if operand.role != .key, taken.contains([]) { throw .empty(operand, of: verb) }
      self[operand.role] = Array(taken)
      rest = rest.dropFirst(taken.count)
    }
    if let surplus = rest.first { throw .surplus(surplus, of: verb) }
  }
}
