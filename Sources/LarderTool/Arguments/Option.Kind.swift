import Larder

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
