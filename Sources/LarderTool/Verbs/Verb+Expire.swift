extension Verb {
  /// `larder expire`
  static let expire = Verb(
    name: "expire",
    summary: "Remove what has expired",
    synonyms: ["sweep", "gc", "clean", "prune"],
    operands: [.directory],
    ownOptions: [.dryRun],
    run: { call throws(Failure) in try call.expire() })
}
