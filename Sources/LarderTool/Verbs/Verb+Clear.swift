extension Verb {
  /// `larder clear`
  static let clear = Verb(
    name: "clear",
    summary: "Remove every entry; what is not an entry stays",
    synonyms: ["purge", "empty", "flush", "wipe", "reset"],
    operands: [.directory],
    ownOptions: [.force, .dryRun],
    rules: [.clearNeedsForce],
    run: { call throws(Failure) in try call.clear() })
}

extension Option {
  /// The flag that confirms the removal.
  static let force = Option("force", nil, .flag, "Confirm that every entry shall go")
}

extension Rule {
  /// The rule that prevents a user from emptying a cache by mistake.
  static let clearNeedsForce = Rule(
    "removes every entry, so it needs --force (or --dry-run, to look first)",
    usage: "--force"
  ) { $0.has(.force) || $0.has(.dryRun) }
}
