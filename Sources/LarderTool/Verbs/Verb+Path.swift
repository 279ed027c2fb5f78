import Larder

extension Verb {
  /// `larder path`
  static let path = Verb(
    name: "path",
    summary: "Print the path of a key's file, whether it is there or not",
    synonyms: ["which", "where", "name", "file"],
    operands: [.directory, .key],
    ownOptions: targetOptions,
    rules: [.nameIsNoKey],
    notes: [targetNote],
    run: { call throws(Failure) in try call.path() })
}

extension Call {
  /// Prints the path of a key's file.
  ///
  /// A script gets the path unchanged, because `$(larder path …)` must name the file. On a terminal
  /// a path with unsafe characters is escaped; they can come from DIR alone.
  func path() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let path = cache.path(of: try target(in: cache).name)
    if isJSON {
      try console.print(["schema": 1, "path": .string(path)])
    } else {
      let isUnchanged = !StandardStream.output.isTerminal || path.isSafeForDisplay
      try console.print((isUnchanged ? path : path.escapedForDisplay) + "\n")
    }
    return .fine
  }
}
