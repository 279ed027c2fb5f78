/// One place for arguments that are not options: `DIR`, `KEY`, `[FILE|-]`.
struct Operand: Sendable {
  /// What the arguments at this place are.
  enum Role: Sendable, Hashable {
    /// The path of the cache directory, as bytes.
    case directory
    /// The path of a second one, as bytes.
    case otherDirectory
    /// The name of a shell.
    case shell
    /// A key, as bytes.
    case key
    /// The path of a file, or the name of one in the directory, as bytes.
    case file
    /// A word that says what to do.
    case action
  }

  /// How many arguments the place takes. All but the last place of a verb take one.
  enum Arity: Sendable, Hashable {
    /// Exactly one; one and more; none or one; any number.
    case one, oneOrMore, optional, any
  }

  /// What the arguments here are.
  let role: Role
  /// How many there are.
  let arity: Arity
  /// What stands for them in help texts.
  let placeholder: String
  /// One phrase without a full stop.
  let help: String

  /// The operand as it stands in a usage line.
  var usage: String {
    switch arity {
    case .one: placeholder
    case .oneOrMore: "\(placeholder)..."
    case .optional: "[\(placeholder)]"
    case .any: "[\(placeholder)...]"
    }
  }

  /// The fewest and the most arguments.
  var counts: ClosedRange<Int> {
    switch arity {
    case .one: 1...1
    case .oneOrMore: 1...Int.max
    case .optional: 0...1
    case .any: 0...Int.max
    }
  }
}

extension Operand {
  /// What nearly every verb works on.
  static let directory = Operand(
    role: .directory, arity: .one, placeholder: "DIR", help: "The cache directory")
  /// What the first is compared with.
  static let otherDirectory = Operand(
    role: .otherDirectory, arity: .one, placeholder: "DIR2", help: "The cache directory to compare")
  /// Whose language completions are written in.
  static let shell = Operand(
    role: .shell, arity: .one, placeholder: "SHELL",
    help: "One of \(CompletionShell.allCases.map(\.rawValue).joined(separator: ", "))")
  /// What names one value.
  static let key = Operand(
    role: .key, arity: .one, placeholder: "KEY", help: "The key, taken byte for byte")
}
