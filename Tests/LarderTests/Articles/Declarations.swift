import Foundation

/// The names that Swift sources declare, and the labels of what can be called.
///
/// It reads the sources as lines of text, formatted as `swift format` leaves them, and knows no
/// types: a member of one type is taken for a member of any.
struct Declarations {
  /// The labels of each overload, by the name that is called. An initialiser is called by its
  /// type's name and by `init`.
  private(set) var calls: [String: [[String]]] = [:]
  /// Everything that has a name: types, functions, properties, cases, parameters of types.
  private(set) var names: Set<String> = []

  private static let types: Set<Substring> = [
    "struct", "class", "enum", "protocol", "actor", "extension", "typealias", "associatedtype",
  ]
  private static let members: Set<Substring> = ["func", "init", "var", "let", "case"]

  /// Adds what a file declares, all of it or only what is public.
  mutating func add(_ text: String, publicOnly: Bool) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    // The types around a line, by their indentation.
    var scopes: [(indentation: Int, name: Substring, isOpen: Bool)] = []
    for (index, line) in lines.enumerated() {
      let code = line.drop { $0 == " " }
      guard let first = code.first, first != "/" else { continue }
      let indentation = line.count - code.count
      while let last = scopes.last, last.indentation >= indentation, first != "}" {
        scopes.removeLast()
      }
      guard let (keyword, rest) = Self.keyword(in: code) else { continue }
      let isPublic =
        code.hasPrefix("public ") || code.contains(" public ") || keyword == "case"
        || scopes.last?.isOpen == true
      let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
      if Self.types.contains(keyword) {
        let last = name.split(separator: ".").last ?? name
        scopes.append((indentation, last, keyword == "protocol" && isPublic))
        if !publicOnly || isPublic, keyword != "extension" { names.insert(String(last)) }
      } else if !publicOnly || isPublic {
        let signature = ([rest] + lines[(index + 1)...].prefix(30)).joined(separator: " ")
        add(keyword, name: String(name), signature: signature, owner: scopes.last?.name)
      }
    }
  }

  private mutating func add(
    _ keyword: Substring, name: String, signature: String, owner: Substring?
  ) {
    guard keyword != "init" else {
      let labels = Self.labels(of: signature) ?? []
      names.formUnion(labels)
      calls["init", default: []].append(labels)
      if let owner { calls[String(owner), default: []].append(labels) }
      return
    }
    names.insert(name)
    if keyword == "func" || keyword == "case" {
      let labels = Self.labels(of: signature) ?? []
      names.formUnion(labels)
      calls[name, default: []].append(labels)
    }
    guard keyword == "case" else { return }
    // `case first, second(Int)` declares several.
    for other in signature.prefix(while: { $0 != "/" && $0 != ":" }).split(separator: ",")
    where !other.contains(")") {
      names.insert(String(other.drop { $0 == " " }.prefix { $0.isLetter || $0.isNumber }))
    }
  }

  /// The keyword of a declaration and what follows it; nil of any other line.
  private static func keyword(in code: Substring) -> (Substring, rest: Substring)? {
    var rest = code
    for _ in 0..<9 {
      let word = rest.prefix { $0 != " " && $0 != "(" && $0 != "?" }
      let next = rest.dropFirst(word.count)
      if members.contains(word) || types.contains(word) {
        // `class func` and the like do not occur; `init<Seconds>(…)` does.
        return (word, next.drop { $0 == " " || $0 == "?" })
      }
      if word.hasPrefix("init<") { return ("init", rest.drop { $0 != "(" }) }
      guard word.hasPrefix("@") || modifiers.contains(word) else { return nil }
      // `package(set)` and `@available(…)` have an argument.
      rest = next.first == "(" ? next.drop { $0 != ")" }.dropFirst() : next
      rest = rest.drop { $0 == " " }
    }
    return nil
  }

  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "private", "fileprivate", "static", "final", "indirect",
    "mutating", "nonisolated", "convenience", "required", "override", "lazy", "weak", "unowned",
    "consuming", "borrowing", "class",
  ]

  /// The labels of the first list of parameters: `(_ value: Int, forKey key: K)` has `_` and
  /// `forKey`. Nil if there is no list.
  static func labels(of signature: some StringProtocol) -> [String]? {
    guard let open = signature.firstIndex(of: "("), let inside = balanced(signature[open...]) else {
      return nil
    }
    return arguments(of: inside).map { argument in
      let words = argument.prefix { $0 != ":" }
      guard words.count < argument.count else { return "_" }
      let label = words.split(separator: " ").first { !$0.hasPrefix("@") }
      return label.map(String.init) ?? "_"
    }
  }

  /// What lies between a parenthesis at the beginning and the one that closes it.
  static func balanced(_ text: some StringProtocol) -> Substring? {
    var depth = 0
    for index in text.indices {
      if "([{".contains(text[index]) { depth += 1 }
      if ")]}".contains(text[index]) { depth -= 1 }
      if depth == 0 { return Substring(text[text.index(after: text.startIndex)..<index]) }
    }
    return nil
  }

  /// The arguments or parameters of a list, separated by commas outside of any parenthesis.
  static func arguments(of list: Substring) -> [Substring] {
    var (depth, start) = (0, list.startIndex)
    var arguments: [Substring] = []
    for index in list.indices {
      if "([{<".contains(list[index]) { depth += 1 }
      if ")]}".contains(list[index]) { depth -= 1 }
      if list[index] == ">", !list[..<index].hasSuffix("-") { depth -= 1 }
      if list[index] == ",", depth == 0 {
        arguments.append(list[start..<index])
        start = list.index(after: index)
      }
    }
    let last = list[start...]
    return last.allSatisfy(\.isWhitespace) ? arguments : arguments + [last]
  }

  /// Whether a call with these labels can be one of this name: default arguments may be left out.
  func allows(_ name: String, _ labels: [String]) -> Bool {
    (calls[name] ?? []).contains { declared in
      var rest = declared[...]
      return labels.allSatisfy { label in
        guard let index = rest.firstIndex(of: label) else { return false }
        rest = rest[(index + 1)...]
        return true
      }
    }
  }
}
