import Larder

/// The arguments of one verb, read and checked against its table.
struct Arguments: Sendable {
  private var options: [String: OptionValue] = [:]
  private var operands: [Operand.Role: [[UInt8]]] = [:]

  /// The arguments of the operand with a role, in order; empty if the operand was left out.
  subscript(role: Operand.Role) -> [[UInt8]] {
    get { operands[role] ?? [] }
    set { operands[role] = newValue }
  }

  /// Sets the value of an option, and returns whether it may have it: whether it had none before,
  /// is a flag, or can have several.
  mutating func set(_ option: Option, _ value: OptionValue) -> Bool {
    if case .parts(let more) = value {
      options[option.name] = .parts(parts(option) + more)
      return true
    }
    return options.updateValue(value, forKey: option.name) == nil || option.kind == .flag
  }

  /// The path of the cache directory; empty for a verb that has none.
  var directory: [UInt8] { self[.directory].first ?? [] }

  /// Whether an option was given.
  func has(_ option: Option) -> Bool { options[option.name] != nil }

  /// Returns the path given with an option.
  func file(_ option: Option) -> [UInt8]? {
    if case .file(let path) = options[option.name] { path } else { nil }
  }

  /// Returns the size given with an option.
  func size(_ option: Option) -> ByteCount? {
    if case .size(let size) = options[option.name] { size } else { nil }
  }

  /// Returns the duration given with an option.
  func duration(_ option: Option) -> TimeSpan? {
    if case .duration(let duration) = options[option.name] { duration } else { nil }
  }

  /// Returns the expiration given with an option.
  func expiration(_ option: Option) -> Expiration? {
    if case .expiration(let expiration) = options[option.name] { expiration } else { nil }
  }

  /// Returns the count given with an option.
  func count(_ option: Option) -> Int? {
    if case .count(let count) = options[option.name] { count } else { nil }
  }

  /// Returns the text, or `@` and the path, given with an option.
  func data(_ option: Option) -> [UInt8]? {
    if case .data(let bytes) = options[option.name] { bytes } else { nil }
  }

  /// Returns the texts given with an option, as often as it was given.
  func parts(_ option: Option) -> [[UInt8]] {
    if case .parts(let texts) = options[option.name] { texts } else { [] }
  }

  /// Returns the word given with an option that takes one of several words.
  func choice(_ option: Option) -> String? {
    if case .choice(let word) = options[option.name] { word } else { nil }
  }

  /// The extension given with `--ext`.
  var fileExtension: FileExtension? {
    let value = options[Option.fileExtension.name]
    return if case .fileExtension(let name) = value { name } else { nil }
  }
}
