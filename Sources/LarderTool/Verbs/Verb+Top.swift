extension Verb {
  /// `larder top`
  static let top = Verb(
    name: "top",
    summary: "Show the largest entries, and how sizes, expiries and uses are spread",
    synonyms: ["largest", "biggest", "histogram", "summary"],
    operands: [.directory],
    ownOptions: [.first],
    notes: ["Without -n, the ten largest."],
    run: { call throws(Failure) in try call.top() })
}
