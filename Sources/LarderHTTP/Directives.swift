import Synchronization

/// The directives of a Cache-Control field or of a targeted one. Source: RFC 9111, 5.2.
///
/// A number that cannot be read is 0, and so is one that is given twice with different values:
/// a response with wrong freshness is stale. Source: RFC 9111, 4.2.1.
struct Directives: Sendable {
  /// The kind of value that a directive has.
  private enum Kind { case none, number, names }
  /// The directives that count. Others do not, because a client may send thousands.
  private static let kinds: [String: Kind] = [
    "max-age": .number, "s-maxage": .number, "max-stale": .number, "min-fresh": .number,
    "stale-if-error": .number, "stale-while-revalidate": .number, "no-cache": .names,
    "private": .names, "no-store": .none, "public": .none, "must-revalidate": .none,
    "proxy-revalidate": .none, "must-understand": .none, "only-if-cached": .none,
  ]
  /// The numbers of directives, or 0. A list, because a few are found faster than by a hash.
  private var values: [(name: String, number: Int)] = []
  /// The fields that `no-cache` and `private` name: not used unvalidated, and not stored if shared.
  private(set) var named: [String: [String]] = [:]

  /// Whether a directive is there that is not limited to some fields.
  func has(_ name: String) -> Bool { self[name] != nil }

  /// The number of a directive; for `max-stale` without one, any number.
  subscript(name: String) -> Int? { values.first { $0.name == name }?.number }

  /// Reads the directives of a field with its lines joined. No request limits one to some fields.
  init(_ field: String, isOfRequest: Bool = false) {
    for member in Fields.members(of: field) {
      let (name, text) = member.split(at: "=")
      // A space before the sign is wrong: the directive counts all the same, without its value.
      let known = name[...].trimmed
      let value = text.map { name != known ? "" : $0.isToken ? $0 : $0.unquoted ?? "" }
      add(known.lowercased(), value, isOfRequest)
    }
  }

  /// Reads the directives of a targeted field; nil if it is empty or no dictionary: it is ignored.
  /// A directive whose value has another type than its own does not count. Source: RFC 9213, 2.1.
  init?(targeted field: String) {
    var (rest, members) = (field[...].trimmed, [String: String]())
    repeat {
      guard let hit = Self.member.withLock({ rest.prefixMatch(of: $0)?.output }) else { return nil }
      members[String(hit.1)] = String(hit.2 ?? "?1")
      rest = rest[hit.0.endIndex...]
    } while !rest.isEmpty
    for (name, value) in members {
      let kind = Self.kinds[name]
      if kind == .names, let names = value.unquoted { add(name, names) }
      if kind == .number ? Int(value) != nil : value == "?1" { add(name, value) }
    }
  }

  /// A member of a dictionary, with the comma after it. Source: RFC 9651, 4.2.
  private static let member = {
    let key = #"[a-z*][a-z0-9_\-.*]*"#
    let string = #""(?:[ !#-\[\]-~]|\\["\\])*""#
    let number = #"-?[0-9]{1,12}\.[0-9]{1,3}|@?-?[0-9]{1,15}|\?[01]"#
    let token = #":[A-Za-z0-9+/=]*:|[A-Za-z*][A-Za-z0-9!#$%&'*+\-.^_`|~:/]*"#
    let item = "(?:\(string)|\(number)|\(token))"
    let parameters = "(?:; *\(key)(?:=\(item))?)*"
    let list = #"\( *(?:\#(item)\#(parameters)(?: +|(?=\))))*\)"#
    let text = "(\(key))(?:=(\(item)|\(list)))?\(parameters)[ \\t]*(?:,[ \\t]*(?!$)|$)"
    // The text is a constant: if it were no pattern, no dictionary would be read.
    do { return Mutex(try Regex(text, as: (Substring, Substring, Substring?).self)) } catch {
      return Mutex(#/()(?!)(.)?/#)
    }
  }()

  private mutating func add(_ name: String, _ value: String?, _ isOfRequest: Bool = false) {
    guard let kind = Self.kinds[name] else { return }
    let fields = kind == .names && !isOfRequest ? Fields.members(of: value?.lowercased() ?? "") : []
    // One that names a field which rules holds for all: without that, the judgement is another.
    let isLimited = !fields.isEmpty && fields.allSatisfy { $0.isToken && !$0.isRule }
    if isLimited { return named[name, default: []] += fields }
    let isAny = name == "max-stale" && value == nil
    let number = kind == .number ? value?.deltaSeconds ?? (isAny ? .max : 0) : 0
    let isSame = self[name] ?? number == number
    values = values.filter { $0.name != name } + [(name, isSame ? number : 0)]
  }
}
