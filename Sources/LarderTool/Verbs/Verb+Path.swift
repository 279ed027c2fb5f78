import Larder

extension Verb {
  /// `larder path`
  static let path = Verb(
    name: "path",
    summary: "Print the path of a key's file, whether it is there or not",
    synonyms: ["which", "where", "name", "file"],
    operands: [.directory, .key],
    ownOptions: [.fileExtension, .keyFile],
    run: { call throws(Failure) in try call.path() })
}

extension Call {
  /// Prints the path of a key's file.
  ///
  /// The path is printed unchanged for scripts. Only a path with characters that are unsafe on a
  /// terminal is escaped; they can come from DIR alone. The JSON output has the path in any case.
  func path() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let path = cache.path(of: try names(of: [try key()], in: cache)[0])
    if isJSON {
      try console.print(["schema": 1, "path": .string(path)])
    } else {
      let isSafe = !path.unicodeScalars.contains(where: \.isUnsafeForDisplay)
      try console.print((isSafe ? path : Array(path.utf8).escapedForDisplay) + "\n")
    }
    return .fine
  }
}
