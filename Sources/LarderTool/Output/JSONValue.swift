import Larder

/// A JSON value. The members of objects stay in their order.
///
/// Numbers are whole and exact: sizes of 64 bits, and nanoseconds since 1970, which exceed `Int64`
/// after 2262.
enum JSONValue: Sendable, Hashable {
  /// No value: unknown, never, or not determined.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number, written in full.
  case integer(Int128)
  /// A text, escaped when it is written.
  case string(String)
  /// Values in order.
  case array([JSONValue])
  /// Members in order. Names may repeat, because they are not checked.
  case object([Member])

  /// A name and its value in an object.
  struct Member: Sendable, Hashable {
    let name: String
    let value: JSONValue
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
  ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral
{
  init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member(name: $0.0, value: $0.1) })
  }

  init(arrayLiteral elements: JSONValue...) {
    self = .array(elements)
  }

  init(stringLiteral value: String) {
    self = .string(value)
  }

  init(integerLiteral value: Int128) {
    self = .integer(value)
  }

  init(booleanLiteral value: Bool) {
    self = .bool(value)
  }

  init(nilLiteral: ()) {
    self = .null
  }
}

extension JSONValue {
  /// The value as indented text that ends in a newline.
  var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return writer.takeText() + "\n"
  }

  /// The value on one line that ends in a newline, for streams with one object a line.
  var line: String { compact + "\n" }

  private var compact: String {
    switch self {
    case .null: "null"
    case .bool(let bool): bool ? "true" : "false"
    case .integer(let number): String(number)
    case .string(let string): string.quotedForJSON
    case .array(let elements): "[" + elements.map(\.compact).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\($0.name.quotedForJSON):\($0.value.compact)" }.joined(separator: ",")
        + "}"
    }
  }

  /// Creates a number from an integer of any width, clamped to 128 bits.
  init(_ number: some BinaryInteger) {
    self = .integer(Int128(clamping: number))
  }

  /// Creates a string, or null for nil.
  init(_ text: String?) {
    self = text.map(JSONValue.string) ?? .null
  }
}

extension JSONValue {
  /// Returns the members for a key: `key` as text, and `key_base64` if it is not UTF-8.
  ///
  /// `key` is null for an unknown key (nil) and for one that is not UTF-8.
  static func keyMembers(_ key: [UInt8]?) -> [Member] {
    guard let key else { return [Member(name: "key", value: .null)] }
    if let text = String(validating: key, as: UTF8.self) {
      return [Member(name: "key", value: .string(text))]
    }
    return [
      Member(name: "key", value: .null),
      Member(name: "key_base64", value: .string(Base64.text(of: key))),
    ]
  }
}

extension JSONValue {
  /// Returns the members that show extended data: `extended_data` as text, null if there is none or
  /// they are not UTF-8, and in the latter case `extended_data_base64`.
  static func dataMembers(_ data: [UInt8]) -> [Member] {
    keyMembers(data.isEmpty ? nil : data).map {
      Member(name: $0.name == "key" ? "extended_data" : "extended_data_base64", value: $0.value)
    }
  }

  /// Returns a point in time in the format of RFC 3339; null for nil, as of an expiry of never.
  ///
  /// A time for which RFC 3339 has no form, before year 0 or after 9999, is written as the nearest
  /// that it has. `nanoseconds(_:)` has every time exactly.
  static func time(_ time: Timestamp?) -> JSONValue {
    guard let time else { return .null }
    return .string(min(max(time, .firstOfRFC3339), .lastOfRFC3339).rfc3339)
  }

  /// Returns a point in time in nanoseconds since 1970; null for nil.
  static func nanoseconds(_ time: Timestamp?) -> JSONValue {
    guard let time else { return .null }
    return .integer(Int128(time.seconds) * 1_000_000_000 + Int128(time.nanoseconds))
  }
}

extension String {
  /// The text as a JSON string, with quotes.
  ///
  /// Escapes what JSON demands, and also characters that a terminal obeys or that are invisible:
  /// controls, bidirectional marks, line separators. A parser gets the same scalars back.
  var quotedForJSON: String {
    var text = "\""
    text.reserveCapacity(utf8.count + 2)
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where !scalar.isASCII || scalar.value < 0x20 || scalar.value == 0x7F:
        scalar.appendForJSON(to: &text)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}

extension Unicode.Scalar {
  /// Appends the character, or its escape by UTF-16 units if it is unsafe.
  fileprivate func appendForJSON(to text: inout String) {
    guard isUnsafeForDisplay else { return text.unicodeScalars.append(self) }
    // JSON escapes UTF-16 units: a character beyond U+FFFF takes two escapes.
    for unit in String(self).utf16 {
      let digits = String(unit, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
}
