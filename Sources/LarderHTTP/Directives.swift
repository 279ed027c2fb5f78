/// The directives of a Cache-Control field or of a targeted one. Source: RFC 9111, 5.2.
///
/// A number that cannot be read is 0, and so is one that is given twice with different values:
/// a response with wrong freshness is stale. Source: RFC 9111, 4.2.1.
struct Directives: Sendable {
  /// The numbers of directives; 0 for one that has none. A list, because a search of the few that
  /// there are is faster than a hash.
  private var values: [(name: String, number: Int)] = []
  /// The fields that `no-cache` and `private` name: not used again without validation, and not
  /// stored by a shared cache.
  private(set) var named: [String: [String]] = [:]

  private static let numeric: Set = [
    "max-age", "s-maxage", "stale-if-error", "stale-while-revalidate", "max-stale", "min-fresh",
  ]

  /// Whether a directive is there that is not limited to some fields.
  func has(_ name: String) -> Bool { self[name] != nil }

  /// The number of a directive; for `max-stale` without one, any number.
  subscript(name: String) -> Int? {
    for value in values where value.name == name { return value.number }
    return nil
  }

  init() {}

  /// Reads the directives of a field whose lines were joined.
  init(_ field: String) {
    for member in HTTPCache.Fields.members(of: field) {
      let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) ?? member.endIndex
      let (name, text) = (member[..<equals], member[equals...].dropFirst())
      var value: String? = text.isToken ? String(text) : nil
      var parser = DictionaryParser(rest: Array(text.utf8)[...])
      if case .string(let content)? = parser.item(), parser.rest.isEmpty { value = content }
      // A space before the sign is against the grammar. The directive is meant all the same, and
      // its value is not believed.
      if name.utf8.last == 32 || name.utf8.last == 9 { value = nil }
      add(name.trimmed.lowercased(), equals == member.endIndex ? nil : value ?? "")
    }
  }

  private mutating func add(_ name: String, _ value: String?) {
    if Self.numeric.contains(name) {
      let number = value.map { $0.deltaSeconds ?? 0 } ?? (name == "max-stale" ? .max : 0)
      let isSame = self[name] ?? number == number
      values.removeAll { $0.name == name }
      values.append((name, isSame ? number : 0))
      return
    }
    let fields = name == "no-cache" || name == "private" ? value.map(HTTPCache.Fields.members) : nil
    if let fields, !fields.isEmpty, fields.allSatisfy(\.isToken) {
      named[name, default: []] += fields
    } else {
      values.append((name, 0))
    }
  }

  /// Reads the directives of a targeted field; nil if it is empty or no dictionary, because the
  /// field is ignored then.
  ///
  /// A directive whose value has another type than its own does not count. Source: RFC 9213, 2.1.
  init?(targeted field: String) {
    var parser = DictionaryParser(rest: Array(field.utf8)[...])
    guard let members = parser.dictionary() else { return nil }
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

  /// Returns the members, the last of each name; nil if there is none or the text is no dictionary.
  mutating func dictionary() -> [String: Item]? {
    var members: [String: Item] = [:]
    repeat {
      // A comma at the end, and none between members, are errors.
      _ = take(" \t")
      guard let name = key(), let value = skip("=") ? itemOrList() : .yes, parameters() else {
        return nil
      }
      members[name] = value
      _ = take(" \t")
    } while skip(",")
    return rest.isEmpty ? members : nil
  }

  private static let letters = "abcdefghijklmnopqrstuvwxyz"
  private static let digits = "0123456789"
  private static let capitals = letters.uppercased()
  private static let tokens = letters + capitals + digits + "!#$%&'*+-.^_`|~:/"
  private static let base64 = letters + capitals + digits + "+/="

  private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: byte) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func take(_ wanted: String) -> String {
    let taken = rest.prefix { wanted.utf8.contains($0) }
    rest = rest[taken.endIndex...]
    return String(decoding: taken, as: UTF8.self)
  }

  private mutating func key() -> String? {
    let text = take(Self.letters + Self.digits + "_-.*")
    return text.utf8.first.map { (97...122).contains($0) || $0 == 42 } == true ? text : nil
  }

  private mutating func parameters() -> Bool {
    while skip(";") {
      _ = take(" ")
      guard key() != nil, !skip("=") || item() != nil else { return false }
    }
    return true
  }

  private mutating func itemOrList() -> Item? {
    guard skip("(") else { return item() }
    while true {
      _ = take(" ")
      if skip(")") { return .other }
      guard item() != nil, parameters(), rest.first == 32 || rest.first == 41 else { return nil }
    }
  }

  /// Takes an item without its parameters; returns nil if there is none.
  mutating func item() -> Item? {
    if skip("\"") { return string() }
    if skip("?") { return skip("1") ? .yes : skip("0") ? .other : nil }
    if skip("@") { if case .integer = number() { return .other } else { return nil } }
    if skip(":"), case _ = take(Self.base64) { return skip(":") ? .other : nil }
    guard let first = rest.first, first == 42 || (97...122).contains(first.lowered) else {
      return number()
    }
    return take(Self.tokens).isEmpty ? nil : .other
  }

  private mutating func number() -> Item? {
    let sign = skip("-") ? "-" : ""
    let whole = take(Self.digits)
    guard (1...15).contains(whole.utf8.count) else { return nil }
    guard skip(".") else { return .integer(sign + whole) }
    return whole.utf8.count <= 12 && (1...3).contains(take(Self.digits).utf8.count) ? .other : nil
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
