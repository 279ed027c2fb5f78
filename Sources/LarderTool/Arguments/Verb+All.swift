extension Verb {
  /// Every verb, in the order of the help text.
  static let all: [Verb] = [
    put, get, rm, path, why, list, top, info, verify, diff, report, watch, expire, trim, clear,
    stamp, record, fixture, completions, man, demo,
  ]

  /// Every option that any verb has, once, and the two of the command itself.
  ///
  /// An option takes a value everywhere or nowhere, so that options can stand before the verb.
  static let vocabulary: [Option] = {
    var seen: Set<String> = []
    return ([.version] + all.flatMap(\.options)).filter { seen.insert($0.name).inserted }
  }()

  /// The verb of a name, nil when there is none.
  static func named(_ name: [UInt8]) -> Verb? {
    all.first { name.elementsEqual($0.name.utf8) }
  }

  /// The name of the verb that was probably meant.
  static func suggestion(for name: [UInt8]) -> String? {
    let word = String(decoding: name, as: UTF8.self).lowercased()
    if let verb = all.first(where: { $0.synonyms.contains(word) }) { return verb.name }
    return Spelling.nearest(to: word, among: all.map(\.name))
  }
}
