import Larder

/// One option of one verb. Parsing, help, completions and the manual are made from it.
struct Option: Sendable {
  /// The long name without its dashes. It has the same kind of value in every verb.
  let name: String
  /// The short name; nil if it has none.
  let letter: Character?
  /// The kind of its value.
  let kind: Kind
  /// The explanation in help texts: one sentence without a full stop.
  let help: String

  /// Creates an option. The name has no dashes, the help no full stop.
  init(_ name: String, _ letter: Character?, _ kind: Kind, _ help: String) {
    self.name = name
    self.letter = letter
    self.kind = kind
    self.help = help
  }

  /// The option as a usage line shows it: `--to SIZE`.
  var usage: String {
    kind.placeholder.map { "--\(name) \($0)" } ?? "--\(name)"
  }

  /// The option as a list shows it: `-o, --output FILE`.
  var term: String {
    letter.map { "-\($0), \(usage)" } ?? "    \(usage)"
  }
}

extension Option {
  /// The flag for help. If it is given, other mistakes on the line are ignored.
  static let help = Option("help", "h", .flag, "Show this help and exit")
  /// The flag for the version. It is used without a verb.
  static let version = Option("version", nil, .flag, "Show the version and exit")
  /// The flag for JSON, which every verb has. The object contains `"schema": 1`.
  static let json = Option("json", nil, .flag, "Answer with one JSON object on stdout")
  /// The flag for the output that a pipe gets, which every verb has.
  static let plain = Option(
    "plain", nil, .flag, "No colours, no bars of blocks, nothing cut, no hints: as in a pipe")
  /// The flag that makes a verb change nothing. The answer is that of a real run.
  static let dryRun = Option("dry-run", nil, .flag, "Only say what would be removed")
  /// The extension of the key's file, for every verb that takes a key.
  static let fileExtension = Option(
    "ext", nil, .fileExtension,
    "The extension of the entry's file (default: none, then the only one there)")
  /// The file with the key, for every verb that takes a key. It replaces the argument KEY.
  static let keyFile = Option(
    "key-file", nil, .file, "Take the key from a file, byte for byte, instead of KEY (-: stdin)")
}

extension Option {
  /// The kind of an option's value. It decides the placeholder, the check and the completion.
  enum Kind: Sendable, Hashable {
    /// No value.
    case flag
    /// A path, as bytes.
    case file
    /// The extension of entries' names.
    case fileExtension
    /// A size in bytes.
    case size
    /// A duration.
    case duration
    /// A duration or `never`.
    case expiration
    /// A whole number, at least 0.
    case count
    /// A text, or `@` and the path of a file with the bytes.
    case data
    /// A text that is part of a key. The option may be given several times.
    case part
    /// One of several words. The first value is the placeholder in help texts.
    case choice(String, [String])
  }
}

extension Option.Kind {
  /// The placeholder for the value in help texts; nil for a flag.
  var placeholder: String? {
    switch self {
    case .flag: nil
    case .file: "FILE"
    case .fileExtension: "EXT"
    case .size: "SIZE"
    case .duration, .expiration: "D"
    case .count: "N"
    case .data: "TEXT|@FILE"
    case .part: "TEXT"
    case .choice(let placeholder, _): placeholder
    }
  }

  /// Reads a value of this kind.
  func parse(_ bytes: [UInt8]) throws(ValueError) -> OptionValue {
    switch self {
    case .flag: .flag
    case .file: .file(try Self.parseFile(bytes))
    case .fileExtension: .fileExtension(try FileExtension(parsing: bytes))
    case .size: .size(try ByteCount(parsing: bytes))
    case .duration: .duration(try TimeSpan(parsing: bytes))
    case .expiration: .expiration(try Expiration(parsing: bytes))
    case .count: .count(try Int(parsingCount: bytes))
    case .data: .data(bytes)
    case .part: .parts([bytes])
    case .choice(_, let words): .choice(try Self.parse(bytes, among: words))
    }
  }

  private static func parseFile(_ bytes: [UInt8]) throws(ValueError) -> [UInt8] {
    guard bytes.isEmpty else { return bytes }
    throw ValueError(bytes, "is empty", accepted: "name a file")
  }

  private static func parse(
    _ bytes: [UInt8], among words: [String]
  ) throws(ValueError) -> String {
    if let word = words.first(where: { bytes.elementsEqual($0.utf8) }) { return word }
    let accepted = "say one of \(words.joined(separator: ", "))"
    throw ValueError(bytes, "is not a choice", accepted: accepted)
  }
}

/// The parsed value of an option.
enum OptionValue: Sendable, Hashable {
  /// The flag was given.
  case flag
  /// A path, never empty.
  case file([UInt8])
  /// An extension, without its dot.
  case fileExtension(FileExtension)
  /// A size, never negative.
  case size(ByteCount)
  /// A duration, never negative.
  case duration(TimeSpan)
  /// `never` or a duration.
  case expiration(Expiration)
  /// A whole number, never negative.
  case count(Int)
  /// A text, or `@` and a path, as bytes.
  case data([UInt8])
  /// Texts, in the order in which they were given.
  case parts([[UInt8]])
  /// One of the words that the option declares.
  case choice(String)
}
