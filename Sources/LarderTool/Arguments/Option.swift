/// One option of one verb: what parsing, help, completions and the manual know about it.
struct Option: Sendable {
  /// The long name without its dashes; it means the same kind of value wherever it appears.
  let name: String
  /// The short name, if it has one.
  let letter: Character?
  /// What follows it.
  let kind: Kind
  /// One sentence without a full stop.
  let help: String

  /// Declares an option; the name without dashes, the help without a full stop.
  init(_ name: String, _ letter: Character?, _ kind: Kind, _ help: String) {
    self.name = name
    self.letter = letter
    self.kind = kind
    self.help = help
  }

  /// The option as it stands in a usage line: `--to SIZE`.
  var usage: String {
    kind.placeholder.map { "--\(name) \($0)" } ?? "--\(name)"
  }

  /// The option as it stands in a list: `-o, --output FILE`.
  var term: String {
    letter.map { "-\($0), \(usage)" } ?? "    \(usage)"
  }
}

extension Option {
  /// Explains instead of doing; wins over every other mistake on the line.
  static let help = Option("help", "h", .flag, "Show this help and exit")
  /// Stands alone, without a verb.
  static let version = Option("version", nil, .flag, "Show the version and exit")
  /// Belongs to every verb; the object has `"schema": 1`.
  static let json = Option("json", nil, .flag, "Answer with one JSON object on stdout")
  /// Belongs to every verb; what a pipe gets.
  static let plain = Option(
    "plain", nil, .flag, "No colours, no bars of blocks, nothing cut, no hints: as in a pipe")
  /// Changes nothing; the answer is that of the real run.
  static let dryRun = Option("dry-run", nil, .flag, "Only say what would be removed")
  /// Belongs to every verb that takes a key.
  static let fileExtension = Option(
    "ext", nil, .fileExtension,
    "The extension of the entry's file (default: none, then the only one there)")
  /// Belongs to every verb that takes a key, and replaces that argument.
  static let keyFile = Option(
    "key-file", nil, .file, "Take the key from a file, byte for byte, instead of KEY (-: stdin)")
}
