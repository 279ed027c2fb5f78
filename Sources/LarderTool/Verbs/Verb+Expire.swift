extension Verb {
  /// `larder expire`
  static let expire = Verb(
    name: "expire",
    summary: "Remove what has expired",
    synonyms: ["sweep", "gc", "clean", "prune"],
    operands: [.directory],
    ownOptions: [.dryRun])
}
