extension Verb {
  /// `larder info`
  static let info = Verb(
    name: "info",
    summary: "Show totals: entries, bytes, oldest and newest use, next expiry",
    synonyms: ["stat", "stats", "status", "size", "du", "count"],
    operands: [.directory],
    run: { call throws(Failure) in try call.info() })
}
