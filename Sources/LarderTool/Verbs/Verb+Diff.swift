extension Verb {
  /// `larder diff`
  static let diff = Verb(
    name: "diff",
    summary: "Compare the entries of two directories",
    synonyms: ["compare", "cmp", "delta"],
    operands: [.directory, .otherDirectory],
    notes: [
      """
      Compared are contents, extended data, expiries, lifetimes and keys; the last use is not. A \
      difference gives status 1. In each line - is only in DIR, + only in DIR2, ~ in both and \
      different.
      """
    ],
    run: { call throws(Failure) in try call.diff() })
}
