extension Verb {
  /// `larder watch`
  static let watch = Verb(
    name: "watch",
    summary: "Show stores, uses, expiries, evictions and removals as they happen",
    synonyms: ["monitor", "tail", "follow", "events"],
    operands: [.directory],
    ownOptions: [.limit, .first],
    notes: [
      """
      Ends with Ctrl-C, after N events with -n, or with status 3 when the directory is gone. In a \
      pipe and with --plain, one event a line; with --json, one object a line. The system does not \
      tell who removed an entry: expired counts as swept, and of the others those that were among \
      the least recently used count as evicted.
      """
    ],
    run: { call throws(Failure) in try call.watch() })
}
