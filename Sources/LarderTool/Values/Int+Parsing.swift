import Larder

extension Int {
  /// The explanation of the notation, for errors.
  static let acceptedCount = "a count is a whole number from 0"

  /// Parses a whole number that consists of digits.
  init(parsingCount bytes: some Collection<UInt8>) throws(ValueError) {
    var scanner = ByteScanner(bytes)
    guard let number = DecimalNumber(from: &scanner) else {
      throw .notANumber(bytes, accepted: Self.acceptedCount)
    }
    guard scanner.isAtEnd, !bytes.contains(UInt8(ascii: ".")) else {
      throw ValueError(bytes, "is not a whole number", accepted: Self.acceptedCount)
    }
    guard let count = number.times(1).flatMap({ Int(exactly: $0) }) else {
      throw ValueError(bytes, "is too large", accepted: "the most is \(Int.max)")
    }
    self = count
  }
}

extension Expiration {
  /// The explanation of the values of `--expires`, for help texts and errors.
  static let accepted = "\(TimeSpan.accepted), or say never"

  /// Parses a duration, or the word `never`.
  init(parsing bytes: some Collection<UInt8>) throws(ValueError) {
    if bytes.elementsEqual("never".utf8) {
      self = .never
    } else {
      self = .seconds(try TimeSpan(parsing: bytes).seconds)
    }
  }
}

extension FileExtension {
  /// The explanation of the values of `--ext`, for errors.
  static let accepted = "an extension is 1 to 20 ASCII letters or digits"

  /// Parses an extension, with or without the dot in front.
  init(parsing bytes: some Collection<UInt8>) throws(ValueError) {
    let text = bytes.first == UInt8(ascii: ".") ? bytes.dropFirst() : bytes[...]
    guard !text.isEmpty, let name = FileExtension(text) else {
      throw ValueError(bytes, "is no extension", accepted: Self.accepted)
    }
    self = name
  }
}

/// The error for a value that cannot be parsed: one sentence with the value and the remedy.
struct ValueError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The sentence, without a full stop.
  let description: String

  /// Creates the error from the value, the problem with it, and the accepted notation.
  init(_ value: some Collection<UInt8>, _ problem: String, accepted: String) {
    description = "\(value.quotedForDisplay) \(problem); \(accepted)"
  }

  /// Returns the error for text that begins with no number.
  static func notANumber(_ value: some Collection<UInt8>, accepted: String) -> ValueError {
    switch value.first {
    case nil: ValueError(value, "is empty", accepted: accepted)
    case UInt8(ascii: "-"): ValueError(value, "is negative", accepted: accepted)
    default: ValueError(value, "is not a number", accepted: accepted)
    }
  }
}
