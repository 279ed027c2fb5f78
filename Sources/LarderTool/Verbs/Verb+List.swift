import Larder

extension Verb {
  /// `larder list`
  static let list = Verb(
    name: "list",
    summary: "Show the entries",
    alias: "ls",
    synonyms: ["dir", "keys", "entries"],
    operands: [.directory],
    ownOptions: [.sort, .first, .onlyExpired, .onlyUnused, .listsNames],
    notes: [
      """
      The order used has the least recent first, as eviction would take them by default once \
      what has expired is gone, value the least valuable, as it would where evictionOrder asks \
      for that, and size the largest. In keys and names, whatever a terminal might obey is shown \
      as \\x.. or \\u{..}. The entries of --json have the extended data too, which are not \
      checked here. Of a fixture, keys and times are those of its manifest, and the clock stands \
      at the last of its uses, which --json has as "clock".
      """,
      """
      --names prints the names alone, without a header, for other commands: \
      larder list DIR --unused --names | xargs -r larder rm DIR --name.
      """,
      """
      --unused goes by the stamps of the files alone: the last access is at most a second after \
      the birth. So a use within the cache's recencyGranularity of the store, 60 s by default, is \
      not seen, nor one that only the memory of a running program knows yet, and a copy of a \
      directory begins anew. A value that took longer to write counts as used. Where the file \
      system keeps no births, nothing is known.
      """,
    ],
    run: { call throws(Failure) in try call.readingFixture().list() })
}

extension Option {
  /// The order of the rows and of `entries`.
  static let sort = Option(
    "sort", nil, .choice("ORDER", EntryOrder.allCases.map(\.rawValue)),
    "The order: used, value, expiry, size, key or name (default: used)")
  /// The number of rows to show.
  static let first = Option("first", "n", .count, "Show only the first N")
  /// The flag to show only entries that `larder expire` would remove.
  static let onlyExpired = Option("expired", nil, .flag, "Show only what has expired")
  /// The flag to show only entries whose last access is that of their store.
  static let onlyUnused = Option(
    "unused", nil, .flag, "Show only what was not used since its store")
}

extension Call {
  /// Shows the entries.
  func list() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    var entries = try entries(of: cache)
    if arguments.has(.onlyUnused) { try keepUnused(&entries, of: cache) }
    if arguments.has(.onlyExpired) { entries.removeAll { !$0.isExpired(at: now) } }
    let order = arguments.choice(.sort).flatMap(EntryOrder.init(rawValue:)) ?? .used
    if order == .value {
      try sortByValue(&entries, of: cache)
    } else {
      entries.sort(by: order.precedes)
    }
    let shown = entries.prefix(arguments.count(.first) ?? .max)
    sayUnreadable(entries)
    sayRefusals()
    if isJSON {
      try printJSON(shown)
    } else if arguments.has(.listsNames) {
      // A whole line for each, so that no column has to be cut out of a table.
      try console.print(shown.map(\.name))
    } else {
      try printTable(shown, at: now)
      sayUnknownKeys(shown)
      if fixtureCopy == nil { suggestAfterList(entries, shown: shown.count, at: now) }
    }
    return .fine
  }

  /// Sorts entries as an eviction would take them by their value.
  private func sortByValue(
    _ entries: inout [DiskEntry], of cache: DiskCache
  ) throws(Failure) {
    let names = try onCache { () throws(CacheError) in try cache.preview(.size(0)).names }
    let ranks = Dictionary(zip(names.map(\.description), names.indices)) { first, _ in first }
    // What is empty frees nothing, and what came meanwhile is the most recent.
    entries = entries.map { (ranks[$0.name] ?? .max, $0) }.sorted {
      ($0.0, $0.1.name) < ($1.0, $1.1.name)
    }.map(\.1)
  }

  /// Keeps the entries that were not used since their store.
  private func keepUnused(
    _ entries: inout [DiskEntry], of cache: DiskCache
  ) throws(Failure) {
    guard fixtureCopy == nil else {
      throw .usage("--unused goes by the births of files, and those of a fixture are a checkout's")
    }
    let handle = cache.engine.location.handle
    let known = entries.map { EntryName(Array($0.name.utf8)).flatMap(handle.isUnused) }
    let unknownCount = known.count { $0 == nil }
    entries = zip(entries, known).filter { $1 == true }.map(\.0)
    if unknownCount == 0 { return }
    console.say("of \(unknownCount.counted("entry")) the file system does not tell the birth")
  }

  private func suggestAfterList(_ entries: [DiskEntry], shown: Int, at now: Timestamp) {
    if entries.isEmpty { return }
    if entries.contains(where: { $0.isExpired(at: now) }) {
      suggest("expire", "--dry-run", "what has expired could go")
    } else if shown < entries.count || entries.count > 50 {
      suggest("top", "", "the largest, and when they expire")
    } else {
      suggest("info", "", "the totals")
    }
  }
}
