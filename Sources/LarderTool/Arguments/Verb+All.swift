extension Verb {
  /// Every verb, in the order of the help text.
  static let all: [Verb] = [
    put, get, rm, path, why, list, top, info, verify, diff, report, watch, expire, trim, clear,
    stamp, record, fixture, completions, man, demo,
  ]

  /// The options of all verbs, each name once, and `--version`.
  ///
  /// An option takes a value in every verb or in none, so that options can stand before the verb.
  static let vocabulary: [Option] = {
    var seen: Set<String> = []
    return ([.version] + all.flatMap(\.options)).filter { seen.insert($0.name).inserted }
  }()

  /// Returns the verb with a name or alias; nil if there is none.
  static func named(_ name: [UInt8]) -> Verb? {
    all.first { $0.names.contains { name.elementsEqual($0.utf8) } }
  }

  /// Returns the name of the verb that a mistyped name most likely means.
  static func suggestion(for name: [UInt8]) -> String? {
    let word = String(decoding: name, as: UTF8.self).lowercased()
    if let verb = all.first(where: { $0.synonyms.contains(word) }) { return verb.name }
    return Spelling.nearest(to: word, among: all.map(\.name))
  }
}
