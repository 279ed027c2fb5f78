extension Verb {
  /// `larder trim`
  static let trim = Verb(
    name: "trim",
    summary: "Remove what has expired, then the least recently used, down to a limit",
    synonyms: ["shrink", "limit", "reduce"],
    operands: [.directory],
    ownOptions: [.trimToSize, .trimToCount, .trimToAge, .dryRun],
    rules: [.exactlyOne(of: [.trimToSize, .trimToCount, .trimToAge])],
    run: { call throws(Failure) in try call.trim() })
}

extension Option {
  /// By the sizes of the files' content.
  static let trimToSize = Option("to", nil, .size, "Leave at most so many bytes")
  /// By number.
  static let trimToCount = Option("count", nil, .count, "Leave at most so many entries")
  /// By the time since the last access.
  static let trimToAge = Option(
    "age", nil, .duration, "Leave only what was used within so much time")
}
