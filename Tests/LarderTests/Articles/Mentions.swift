import Foundation

/// What a page's text says in code between back-quotes, checked against what is declared.
struct Mentions {
  let declared: Declarations
  /// Names of other libraries and of the system, which no source of ours declares.
  let foreign: Set<String>

  /// Returns the spans of code in a text, without the blocks: `name` and ``Type/name``.
  static func spans(of text: String) -> [Substring] {
    var spans: [Substring] = []
    var isBlock = false
    for paragraph in text.components(separatedBy: "\n```") {
      defer { isBlock.toggle() }
      if isBlock { continue }
      // A span may go on in the next line, and not in the next paragraph.
      for part in paragraph.components(separatedBy: "\n\n") {
        let pieces = part.replacing("``", with: "`").split(
          separator: "`", omittingEmptySubsequences: false)
        for (index, piece) in pieces.enumerated() where index % 2 == 1 { spans.append(piece) }
      }
    }
    return spans
  }

  /// Returns what is wrong with a span of code; nothing if it is no Swift or as declared.
  func complaints(about span: Substring) -> [String] {
    let span = String(span).replacing("\n", with: " ")
    if span.contains("/"), !span.contains("(") || span.contains("/init(") || !span.contains(" ") {
      return link(span)
    }
    return calls(in: span) + members(in: span) + words(in: span)
  }

  /// A link of DocC: `Type/member(labels:)`, perhaps with a suffix that tells overloads apart.
  private func link(_ span: String) -> [String] {
    let parts = span.split(separator: "/").map { $0.prefix { $0 != "(" && $0 != "-" } }
    guard span.first?.isUppercase == true, parts.count > 1, !span.contains("."),
      declared.names.contains(String(parts[0])) || parts[0].hasPrefix("Larder")
    else { return [] }
    let unknown = parts.map(String.init).filter {
      !isKnown($0) && $0 != "init" && !$0.hasPrefix("Larder")
    }
    return unknown.map { "nothing is named \($0)" } + calls(in: span)
  }

  private func isKnown(_ name: String) -> Bool {
    declared.names.contains(name) || foreign.contains(name)
  }

  /// Names with a parenthesis, and the labels in it.
  private func calls(in span: String) -> [String] {
    span.matches(of: #/(?<name>[A-Za-z_]\w*)\(/#).flatMap { match -> [String] in
      let name = String(match.name)
      if foreign.contains(name) || Self.keywords.contains(name) { return [] }
      guard isKnown(name) || declared.calls[name] != nil else { return ["no \(name)(…)"] }
      guard declared.calls[name] != nil,
        let inside = Declarations.balanced(
          span[span.index(before: match.range.upperBound)...])
      else { return [] }
      let labels = Self.labels(in: inside)
      let isComplete = !inside.contains("…")
      if isComplete ? declared.allows(name, labels) : labels.allSatisfy({ has(name, $0) }) {
        return []
      }
      return ["no \(name)(\(labels.map { "\($0):" }.joined()))"]
    }
  }

  private func has(_ name: String, _ label: String) -> Bool {
    declared.calls[name]?.contains { $0.contains(label) } ?? false
  }

  /// The labels of a call: of `forKey:expiration:` as of `html, forKey: url`.
  private static func labels(in inside: Substring) -> [String] {
    if inside.wholeMatch(of: #/(?:\w+:)+/#) != nil {
      return inside.split(separator: ":").map(String.init)
    }
    return Declarations.arguments(of: inside).compactMap { argument in
      if argument.contains("…"), !argument.contains(":") { return nil }
      let label = argument.firstMatch(of: #/^\s*(?<label>[A-Za-z_]\w*):/#)?.label
      return label.map(String.init) ?? "_"
    }
  }

  private static let keywords: Set = ["try", "await", "in", "return", "where", "if"]

  /// What begins with something of ours: `cache.disk.survey`, `.staleIfFailing`.
  private func members(in span: String) -> [String] {
    let chains = span.matches(
      of: #/(?:^|[^\w.\/"-])(?<head>\w*)(?<rest>(?:\.[a-zA-Z_]\w*)+)(?![\w\/-])/#)
    return chains.flatMap { match -> [String] in
      let head = String(match.head)
      guard head.isEmpty || Self.variables.contains(head) || isType(head) else { return [] }
      return match.rest.split(separator: ".").map(String.init)
        .filter { !isKnown($0) && declared.calls[$0] == nil }
        .map { "nothing is named \($0)" }
    }
  }

  private func isType(_ name: String) -> Bool {
    name.first?.isUppercase == true && declared.names.contains(name)
  }

  /// What the pages call their objects.
  private static let variables: Set = [
    "cache", "disk", "memory", "statistics", "loads", "fixture", "configuration", "clock",
    "monitor", "entry", "survey", "writer", "file",
  ]

  /// A word alone that can only be a name: `sizeLimit`.
  private func words(in span: String) -> [String] {
    guard let word = span.wholeMatch(of: #/[a-z]+[A-Z]\w*/#)?.output, !isKnown(String(word)) else {
      return []
    }
    return ["nothing is named \(word)"]
  }
}
