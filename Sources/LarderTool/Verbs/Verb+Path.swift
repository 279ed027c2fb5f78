import Larder

extension Verb {
  /// `larder path`
  static let path = Verb(
    name: "path",
    summary: "Print the path of a key's file, whether it is there or not",
    synonyms: ["which", "where", "name", "file"],
    operands: [.directory, .keyOrName],
    ownOptions: targetOptions,
    rules: [.nameIsNoKey],
    notes: [targetNote],
    run: { call throws(Failure) in try call.path() })
}

// What the verbs on the entry of a KEY share: its options, the rule on them, and a paragraph of the
// help. An option or rule of one verb stands in the file of that verb in the same way.
extension Option {
  /// The flag to take KEY for a file's name or the beginning of one.
  static let byName = Option(
    "name", nil, .flag, "Take KEY for the name of an entry's file, or a beginning of it")
  /// The further parts of a joined key.
  static let variant = Option(
    "variant", nil, .part, "Take this variant of KEY; once more, a variant of the variant")
}

extension Rule {
  /// The rule that what is part of a key is not given with a name.
  static let nameIsNoKey = Rule("--name goes without --variant, --key-file and --ext") {
    !$0.has(.byName) || ![Option.variant, .keyFile, .fileExtension].contains(where: $0.has)
  }
}

extension Verb {
  /// The options of a verb that finds an entry by its KEY.
  static let targetOptions: [Option] = [.byName, .variant, .fileExtension, .keyFile]

  /// The paragraph on the notations of KEY, for the same verbs.
  static let targetNote = """
    KEY is a key or, as larder list shows it, the name of an entry's file, or its path, as larder \
    path prints it. A key that has a value wins. With --name, KEY is a name, or the beginning of \
    one, if it is that of one entry only. For larder rm a name needs --name.
    """
}

extension Call {
  /// Prints the path of a key's file.
  ///
  /// A script gets the path unchanged, because `$(larder path …)` must name the file. On a terminal
  /// a path with unsafe characters is escaped; they can come from DIR alone.
  func path() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let path = cache.path(of: try target(in: cache).name)
    // A name that is not UTF-8 has it in the place of bytes, and the path is of nothing.
    let isReplacement = { (scalar: Unicode.Scalar) in scalar == "\u{fffd}" }
    let directory = String(decoding: arguments.directory, as: UTF8.self)
    let isGiven = directory.unicodeScalars.contains(where: isReplacement)
    if !isGiven, path.unicodeScalars.contains(where: isReplacement) {
      throw .usage("the path of DIR is not UTF-8; rename the directory that is not")
    }
    if isJSON {
      try console.print(["schema": 1, "path": .string(path)])
    } else {
      let isUnchanged = !console.isTerminal || path.isSafeForDisplay
      try console.print((isUnchanged ? path : path.escapedForDisplay) + "\n")
    }
    return .fine
  }
}
