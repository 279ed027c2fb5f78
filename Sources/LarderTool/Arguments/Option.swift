import Larder

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

extension Option {
  /// What follows an option, which decides its placeholder, its check and its completion.
  enum Kind: Sendable, Hashable {
    /// Nothing: it is there or not.
    case flag
    /// A path, as bytes.
    case file
    /// The extension of entries' names.
    case fileExtension
    /// A size in bytes.
    case size
    /// A length of time.
    case duration
    /// A length of time or `never`.
    case expiration
    /// A whole number from 0.
    case count
    /// One of several words, and what stands for them in help texts.
    case choice(String, [String])
  }
}

extension Option.Kind {
  /// What stands for the value in help texts, nil when there is none.
  var placeholder: String? {
    switch self {
    case .flag: nil
    case .file: "FILE"
    case .fileExtension: "EXT"
    case .size: "SIZE"
    case .duration, .expiration: "D"
    case .count: "N"
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

/// What was given with an option, already read.
enum OptionValue: Sendable, Hashable {
  /// It was there.
  case flag
  /// A path, never empty.
  case file([UInt8])
  /// An extension, without its dot.
  case fileExtension(FileExtension)
  /// A size, never negative.
  case size(ByteCount)
  /// A length of time, never negative.
  case duration(TimeSpan)
  /// Never, or a length of time.
  case expiration(Expiration)
  /// A whole number, never negative.
  case count(Int)
  /// One of the words that the option declares.
  case choice(String)
}
