import Larder

extension Call {
  /// Prints the path of a key's file.
  ///
  /// A script uses the line as it is. Only a path that could command a terminal, which it can be
  /// through DIR alone, is escaped; JSON has it in any case.
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
