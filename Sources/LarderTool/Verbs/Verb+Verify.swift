extension Verb {
  /// `larder verify`
  static let verify = Verb(
    name: "verify",
    summary: "Read every entry and check it against its hash",
    synonyms: ["check", "fsck", "validate", "scrub"],
    operands: [.directory],
    ownOptions: [.repair],
    notes: [
      """
      Damage gives status 1, and 0 once a repair has removed all of it. An entry of another \
      version of the format gives status 3 and is never removed.
      """
    ],
    run: { call throws(Failure) in try call.verify() })
}

extension Option {
  /// Removes damaged entries after they were counted.
  static let repair = Option("repair", nil, .flag, "Remove what is damaged")
}
