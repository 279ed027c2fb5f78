extension Verb {
  /// `larder list`
  static let list = Verb(
    name: "list",
    summary: "Show the entries",
    synonyms: ["ls", "dir", "keys", "entries"],
    operands: [.directory],
    ownOptions: [.sort, .first, .onlyExpired],
    notes: [
      """
      The order used has the least recent first, as eviction would take them, and size the \
      largest. In keys and names, whatever a terminal might obey is shown as \\x.. or \\u{..}.
      """
    ],
    run: { call throws(Failure) in try call.list() })
}

extension Option {
  /// The order of the rows and of `entries`.
  static let sort = Option(
    "sort", nil, .choice("ORDER", EntryOrder.allCases.map(\.rawValue)),
    "The order: used, expiry, size, key or name (default: used)")
  /// The first of them only.
  static let first = Option("first", "n", .count, "Show only the first N")
  /// What `larder expire` would remove.
  static let onlyExpired = Option("expired", nil, .flag, "Show only what has expired")
}
