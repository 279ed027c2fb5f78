/// A value as JSON has it, with the members of objects in the order given.
///
/// Numbers are whole and exact: sizes of 64 bits, and nanoseconds since 1970, which exceed `Int64`
/// after 2262.
enum JSONValue: Sendable, Hashable {
  /// No value: unknown, never, or not asked.
  case null
  /// A truth.
  case bool(Bool)
  /// A whole number, written with all its digits.
  case integer(Int128)
  /// A text, escaped when it is written.
  case string(String)
  /// Values in order.
  case array([JSONValue])
  /// Members in order; names are not checked for being unique.
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
  /// The value as an indented text that ends in a newline.
  var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return writer.takeText() + "\n"
  }

  /// The value on one line that ends in a newline, for streams of one object a line.
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

  /// A whole number of any width.
  init(_ number: some BinaryInteger) {
    self = .integer(Int128(clamping: number))
  }

  /// A text, or null where there is none.
  init(_ text: String?) {
    self = text.map(JSONValue.string) ?? .null
  }
}
