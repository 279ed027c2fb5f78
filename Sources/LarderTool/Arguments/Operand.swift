/// A position for arguments that are not options: `DIR`, `KEY`, `[FILE|-]`.
struct Operand: Sendable {
  /// The meaning of the arguments of an operand.
  enum Role: Sendable, Hashable {
    /// The path of the cache directory, as bytes.
    case directory
    /// The path of a second cache directory, as bytes.
    case otherDirectory
    /// The name of a shell.
    case shell
    /// A key, as bytes.
    case key
    /// The path of a file, as bytes.
    case file
    /// The name of an entry's file, a beginning of it, or its path, as bytes.
    case name
    /// The word for an action, such as `pack`.
    case action
  }

  /// The number of arguments that an operand takes. All but the last operand of a verb take one.
  enum Arity: Sendable, Hashable {
    /// Exactly one; one or more; none or one; any number.
    case one, oneOrMore, optional, any
  }

  /// The meaning of the arguments.
  let role: Role
  /// The number of arguments that the operand takes.
  let arity: Arity
  /// The placeholder in help texts.
  let placeholder: String
  /// The explanation in help texts: one phrase without a full stop.
  let help: String

  /// The operand as a usage line shows it.
  var usage: String {
    switch arity {
    case .one: placeholder
    case .oneOrMore: "\(placeholder)..."
    case .optional: "[\(placeholder)]"
    case .any: "[\(placeholder)...]"
    }
  }

  /// The smallest and the largest number of arguments.
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
  /// The cache directory, which nearly every verb has.
  static let directory = Operand(
    role: .directory, arity: .one, placeholder: "DIR", help: "The cache directory")
  /// The directory that the first one is compared with.
  static let otherDirectory = Operand(
    role: .otherDirectory, arity: .one, placeholder: "DIR2", help: "The cache directory to compare")
  /// The shell to write completions for.
  static let shell = Operand(
    role: .shell, arity: .one, placeholder: "SHELL",
    help: "One of \(CompletionShell.allCases.map(\.rawValue).joined(separator: ", "))")
  /// The key of one value.
  static let key = Operand(
    role: .key, arity: .one, placeholder: "KEY", help: "The key, taken byte for byte")
  /// The key of one value, or the name of its file: see `Verb.targetNote`.
  static let keyOrName = Operand(
    role: .key, arity: .one, placeholder: "KEY",
    help: "The key, byte for byte, or the name of the entry's file")
}
