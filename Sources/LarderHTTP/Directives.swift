import Synchronization

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
  /// The directives that may be limited to some fields.
  private static let naming: Set = ["no-cache", "private"]
  private static let plain: Set = [
    "no-store", "public", "must-revalidate", "proxy-revalidate", "must-understand",
    "only-if-cached",
  ]

  /// Whether a directive is there that is not limited to some fields.
  func has(_ name: String) -> Bool { self[name] != nil }

  /// The number of a directive; for `max-stale` without one, any number.
  subscript(name: String) -> Int? { values.first { $0.name == name }?.number }

  /// Reads the directives of a field whose lines were joined.
  init(_ field: String) {
    for member in Fields.members(of: field) {
      let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) ?? member.endIndex
      let (name, text) = (member[..<equals], member[equals...].dropFirst())
      // A space before the sign is against the grammar. The directive is meant all the same, and
      // its value is not believed.
      let value = name != name.trimmed ? nil : text.isToken ? String(text) : text.unquoted
      add(name.trimmed.lowercased(), equals == member.endIndex ? nil : value ?? "")
    }
  }

  /// Reads the directives of a targeted field; nil if it is empty or no dictionary, because the
  /// field is ignored then.
  ///
  /// A directive whose value has another type than its own does not count. Source: RFC 9213, 2.1.
  init?(targeted field: String) {
    var parser = StructuredField(rest: field[...])
    guard let members = parser.dictionary() else { return nil }
    for (name, value) in members {
      let isNumber = Self.numeric.contains(name) && Int(value) != nil
      let isText = Self.naming.contains(name) && value.hasPrefix("\"")
      if isNumber || isText { add(name, value.unquoted ?? String(value)) }
      if value == "?1", !Self.numeric.contains(name) { add(name, nil) }
    }
  }

  /// Adds a directive. Others than those that are asked for do not count, because a client may send
  /// thousands.
  private mutating func add(_ name: String, _ value: String?) {
    guard [Self.numeric, Self.naming, Self.plain].contains(where: { $0.contains(name) }) else {
      return
    }
    let fields = Self.naming.contains(name) ? value.map(Fields.members) ?? [] : []
    if !fields.isEmpty, fields.allSatisfy(\.isToken) { return named[name, default: []] += fields }
    let isAny = name == "max-stale" && value == nil
    let number = Self.numeric.contains(name) ? value?.deltaSeconds ?? (isAny ? .max : 0) : 0
    let isSame = self[name] ?? number == number
    values.removeAll { $0.name == name }
    values.append((name, isSame ? number : 0))
  }
}

/// A reader of the dictionaries of structured fields. Source: RFC 9651, 4.2.
struct StructuredField {
  private static let key = Mutex(#/[a-z*][a-z0-9_\-.*]*/#)
  private static let item = Mutex(
    #/
    "(?:[\x20!\#-\[\]-~]|\\["\\])*" | -?[0-9]{1,12}\.[0-9]{1,3} | @?-?[0-9]{1,15} | \?[01]
    | :[A-Za-z0-9+\/=]*: | [A-Za-z*][A-Za-z0-9!\#$%&'*+\-.^_`\|~:\/]*
    /#)
  fileprivate var rest: Substring

  /// Returns the members, the last of each name; nil if there is none or the text is no dictionary.
  mutating func dictionary() -> [String: Substring]? {
    var members: [String: Substring] = [:]
    repeat {
      rest = rest.trimmed
      guard let name = take(Self.key), let value = skip("=") ? value() : "?1", hasParameters()
      else { return nil }
      members[String(name)] = value
      rest = rest.trimmed
    } while skip(",")
    return rest.isEmpty ? members : nil
  }

  private mutating func take(_ pattern: borrowing Mutex<Regex<Substring>>) -> Substring? {
    guard let found = pattern.withLock({ rest.prefixMatch(of: $0)?.output }) else { return nil }
    rest = rest[found.endIndex...]
    return found
  }

  private mutating func skip(_ sign: Character) -> Bool {
    guard rest.first == sign else { return false }
    rest.removeFirst()
    return true
  }

  /// Takes an item, or a list of them, whose content does not matter.
  private mutating func value() -> Substring? {
    guard skip("(") else { return take(Self.item) }
    while true {
      rest = rest.drop { $0 == " " }
      if skip(")") { return "" }
      guard take(Self.item) != nil, hasParameters(), rest.first == " " || rest.first == ")" else {
        return nil
      }
    }
  }

  private mutating func hasParameters() -> Bool {
    while skip(";") {
      rest = rest.drop { $0 == " " }
      guard take(Self.key) != nil, !skip("=") || take(Self.item) != nil else { return false }
    }
    return true
  }
}

extension Substring {
  /// The content of a quoted string; nil for any other text. Source: RFC 9110, 5.6.4.
  //
  // Byte by byte, because a client chooses the length.
  fileprivate var unquoted: String? {
    guard utf8.count > 1, utf8.first == 34, utf8.last == 34 else { return nil }
    var (content, isEscaped) = ([UInt8](), false)
    for byte in utf8.dropFirst().dropLast() {
      if byte == 34, !isEscaped { return nil }
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      if !isEscaped { content.append(byte) }
    }
    return isEscaped ? nil : String(decoding: content, as: UTF8.self)
  }
}
