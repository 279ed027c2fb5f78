/// The directives of a Cache-Control field or of a targeted one. Source: RFC 9111, 5.2.
///
/// A number that cannot be read is 0, and so is one that is given twice with different values:
/// a response with wrong freshness is stale. Source: RFC 9111, 4.2.1.
struct Directives: Sendable {
  private var flags: Set<String> = []
  private var numbers: [String: Int] = [:]
  /// The fields that `no-cache` and `private` name: not used again without validation, and not
  /// stored by a shared cache.
  private(set) var named: [String: [String]] = [:]

  private static let numeric: Set = [
    "max-age", "s-maxage", "stale-if-error", "stale-while-revalidate", "max-stale", "min-fresh",
  ]

  /// Whether a directive is there that is not limited to some fields.
  func has(_ name: String) -> Bool { flags.contains(name) }

  /// The number of a directive; for `max-stale` without one, any number.
  subscript(name: String) -> Int? { numbers[name] }

  init() {}

  /// Reads the directives of a field whose lines were joined.
  init(_ field: String) {
    for member in HTTPCache.Fields.members(of: field) {
      let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) ?? member.endIndex
      let name = member[..<equals]
      // A space before the sign is against the grammar. The directive is meant all the same, and
      // its value is not believed.
      let isWrong = name.utf8.last == 32 || name.utf8.last == 9
      let value = member[equals...].dropFirst()
      add(
        name.trimmed.lowercased(),
        equals == member.endIndex ? nil : isWrong ? "" : Self.unquoted(value) ?? "")
    }
  }

  /// Returns a token, or the content of a quoted string; nil for other text.
  private static func unquoted(_ text: Substring) -> String? {
    guard text.hasPrefix("\"") else { return text.isToken ? String(text) : nil }
    var (content, isEscaped): ([UInt8], Bool) = ([], false)
    for (place, byte) in text.utf8.enumerated().dropFirst() {
      if !isEscaped, byte == UInt8(ascii: "\"") {
        return place == text.utf8.count - 1 ? String(decoding: content, as: UTF8.self) : nil
      }
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      if !isEscaped { content.append(byte) }
    }
    return nil
  }

  private mutating func add(_ name: String, _ value: String?) {
    if Self.numeric.contains(name) {
      let number = value.map { $0.deltaSeconds ?? 0 } ?? (name == "max-stale" ? .max : 0)
      numbers[name] = numbers[name] ?? number == number ? number : 0
      return
    }
    let fields = name == "no-cache" || name == "private" ? value.map(HTTPCache.Fields.members) : nil
    if let fields, !fields.isEmpty, fields.allSatisfy(\.isToken) {
      named[name, default: []] += fields
    } else {
      flags.insert(name)
    }
  }

  /// Reads the directives of a targeted field; nil if it is empty or no dictionary, because the
  /// field is ignored then.
  ///
  /// A directive whose value has another type than its own does not count. Source: RFC 9213, 2.1.
  init?(targeted field: String) {
    var parser = DictionaryParser(rest: Array(field.utf8)[...])
    guard let members = parser.dictionary(), !members.isEmpty else { return nil }
    for (name, value) in members {
      switch value {
      case .integer(let text) where Self.numeric.contains(name): add(name, text)
      case .yes where !Self.numeric.contains(name): add(name, nil)
      case .string(let text) where name == "no-cache" || name == "private": add(name, text)
      default: continue
      }
    }
  }
}

/// A parser for the dictionaries of structured fields. Source: RFC 9651, 4.2.
///
/// Tells the types apart that directives have; other values are checked and dropped.
struct DictionaryParser {
  enum Item: Equatable {
    case integer(String)
    case string(String)
    case yes
    case other
  }

  var rest: ArraySlice<UInt8>

  /// Returns the members, the last of each name; nil if the text is no dictionary.
  mutating func dictionary() -> [String: Item]? {
    var members: [String: Item] = [:]
    _ = take { $0 == 32 }
    while !rest.isEmpty {
      // A comma at the end, and none between members, are errors.
      guard let name = key(), let value = skip("=") ? itemOrList() : .yes, parameters() else {
        return nil
      }
      members[name] = value
      _ = take { $0 == 32 || $0 == 9 }
      if rest.isEmpty { break }
      guard skip(","), case _ = take({ $0 == 32 || $0 == 9 }), !rest.isEmpty else { return nil }
    }
    return members
  }

  private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: byte) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func take(_ isWanted: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: isWanted)
    rest = rest[taken.endIndex...]
    return String(decoding: taken, as: UTF8.self)
  }

  private mutating func key() -> String? {
    guard let first = rest.first, (97...122).contains(first) || first == 42 else { return nil }
    return take { (97...122).contains($0) || $0.isDigit || "_-.*".utf8.contains($0) }
  }

  private mutating func parameters() -> Bool {
    while skip(";") {
      _ = take { $0 == 32 }
      guard key() != nil, !skip("=") || item() != nil else { return false }
    }
    return true
  }

  private mutating func itemOrList() -> Item? {
    guard skip("(") else { return item() }
    while true {
      _ = take { $0 == 32 }
      if skip(")") { return .other }
      guard item() != nil, parameters(), rest.first == 32 || rest.first == 41 else { return nil }
    }
  }

  private mutating func item() -> Item? {
    guard let first = rest.first else { return nil }
    if first == UInt8(ascii: "-") || first.isDigit { return number() }
    if first == UInt8(ascii: "*") || (97...122).contains(first.lowered) {
      _ = take { (33...126).contains($0) && !"\"(),;<=>?@[\\]{}".utf8.contains($0) }
      return .other
    }
    if skip("\"") { return string() }
    if skip("?") { return skip("1") ? .yes : skip("0") ? .other : nil }
    if skip("@") { if case .integer = number() { return .other } else { return nil } }
    guard skip(":") else { return nil }
    _ = take { $0.isDigit || (97...122).contains($0.lowered) || "+/=".utf8.contains($0) }
    return skip(":") ? .other : nil
  }

  private mutating func number() -> Item? {
    let sign = skip("-") ? "-" : ""
    let digits = take(\.isDigit)
    guard (1...15).contains(digits.utf8.count) else { return nil }
    guard skip(".") else { return .integer(sign + digits) }
    return digits.utf8.count <= 12 && (1...3).contains(take(\.isDigit).utf8.count) ? .other : nil
  }

  private mutating func string() -> Item? {
    var text: [UInt8] = []
    while var byte = rest.popFirst(), (32...126).contains(byte) {
      if byte == UInt8(ascii: "\"") { return .string(String(decoding: text, as: UTF8.self)) }
      if byte == UInt8(ascii: "\\") {
        guard let next = rest.popFirst(), next == 34 || next == 92 else { return nil }
        byte = next
      }
      text.append(byte)
    }
    return nil
  }
}
