/// Cuts a command line into operands and options, front to back.
///
/// `--name value`, `--name=value`, `-n value`, `-nvalue` and `-n=value` are the same. After `--`,
/// every argument is an operand. `-` alone is an operand.
struct ArgumentReader: Sendable, IteratorProtocol, Sequence {
  private var rest: ArraySlice<[UInt8]>
  private var optionsHaveEnded = false
  private let vocabulary: [Option]

  /// Starts at the argument after the program's name.
  init(_ arguments: some Sequence<[UInt8]>, vocabulary: [Option]) {
    rest = ArraySlice(arguments)
    self.vocabulary = vocabulary
  }

  /// Returns the next operand or option; nil at the end.
  mutating func next() -> ArgumentToken? {
    guard let argument = rest.popFirst() else { return nil }
    if optionsHaveEnded || argument.count < 2 || argument[0] != Self.dash {
      return .operand(argument)
    }
    // Only the first `--` ends the options; a later one is an operand.
    if argument == [Self.dash, Self.dash] {
      optionsHaveEnded = true
      return next()
    }
    return argument[1] == Self.dash ? long(argument) : short(argument)
  }

  private static let dash = UInt8(ascii: "-")
  private static let equals = UInt8(ascii: "=")

  /// Takes `--name` and its value: the text after `=`, or the next argument.
  private mutating func long(_ argument: [UInt8]) -> ArgumentToken {
    let name = argument.dropFirst(2).prefix { $0 != Self.equals }
    guard let option = option(named: name) else {
      return .unknown(Array(argument[..<name.endIndex]))
    }
    // `--name=` is an empty value and not a missing one.
    if name.endIndex < argument.endIndex {
      return .option(option, value: Array(argument[(name.endIndex + 1)...]))
    }
    return .option(option, value: takeValue(of: option))
  }

  /// Takes `-n` and its value: the attached text, or the next argument.
  private mutating func short(_ argument: [UInt8]) -> ArgumentToken {
    guard let option = option(letter: argument[1]) else { return .unknown(argument) }
    var attached = argument.dropFirst(2)
    if attached.first == Self.equals { attached.removeFirst() }
    // Letters are not bundled: the attached text is a value. A flag with a value is an error later.
    if argument.count > 2 { return .option(option, value: Array(attached)) }
    return .option(option, value: takeValue(of: option))
  }

  /// Takes the next argument if the option has a value and the argument is not an option.
  private mutating func takeValue(of option: Option) -> [UInt8]? {
    guard option.kind != .flag, let next = rest.first, !isOption(next) else { return nil }
    return rest.popFirst()
  }

  /// Whether an argument is `--` or names a known option. `-5` and `--odd` are values.
  private func isOption(_ argument: [UInt8]) -> Bool {
    guard argument.starts(with: [Self.dash, Self.dash]) else {
      return argument.count == 2 && argument[0] == Self.dash && option(letter: argument[1]) != nil
    }
    let name = argument.dropFirst(2).prefix { $0 != Self.equals }
    return name.isEmpty || option(named: name) != nil
  }

  private func option(named name: ArraySlice<UInt8>) -> Option? {
    vocabulary.first { name.elementsEqual($0.name.utf8) }
  }

  private func option(letter: UInt8) -> Option? {
    vocabulary.first { $0.letter?.asciiValue == letter }
  }
}

/// One operand or option of a command line.
enum ArgumentToken: Sendable {
  /// An argument without dashes, or any after `--`.
  case operand([UInt8])
  /// An option, and the bytes of its value if there is one.
  case option(Option, value: [UInt8]?)
  /// An argument with dashes that is no option of any verb, without `=` and the text after it.
  case unknown([UInt8])
}
