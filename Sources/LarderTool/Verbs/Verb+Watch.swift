import Larder

extension Verb {
  /// `larder watch`
  static let watch = Verb(
    name: "watch",
    summary: "Show stores, uses, expiries, evictions and removals as they happen",
    synonyms: ["monitor", "tail", "follow", "events"],
    operands: [.directory],
    ownOptions: [.limit, .first],
    printsLines: true,
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

extension Call {
  /// Shows the events in the directory until the user ends it.
  func watch() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    // The watch starts before the listing, so that an event between the two comes twice, not never.
    var watch = try onCache { () throws(CacheError) in try DirectoryWatch(cache) }
    var ledger = WatchLedger(try contents(of: cache), at: WallClock.system.now())
    var screen = WatchScreen(
      directory: cache.directory, limit: arguments.size(.limit)?.count, console: console)
    let isLive = console.isTerminal && !isJSON
    while true {
      let news = try onCache { () throws(CacheError) in try watch.news() }
      let hasEnded = news.contains(.ended)
      let events = try take(news, into: &ledger, from: cache)
      if isLive {
        try screen.show(ledger, events)
      } else {
        try write(events)
      }
      if let most = arguments.count(.first), ledger.eventCount >= most { return .fine }
      if hasEnded { throw .gone }
      // Ten times a second: a person can follow it, and a burst is shown at once.
      CommandProcess.wait(.milliseconds(100))
    }
  }

  private func contents(of cache: DiskCache) throws(Failure) -> [DiskEntry] {
    try onCache { () throws(CacheError) in try cache.entries() }
  }

  /// Looks up the entries that the news name, and updates the ledger.
  private func take(
    _ news: [DirectoryWatch.News], into ledger: inout WatchLedger, from cache: DiskCache
  ) throws(Failure) -> [WatchEvent] {
    let now = WallClock.system.now()
    if news.contains(.lost) { return ledger.replaceAll(try contents(of: cache), at: now) }
    var sightings = WatchSightings()
    for item in news { sightings.add(item) }
    for name in sightings.order {
      let entry = try onCache { () throws(CacheError) in try cache.entry(named: name) }
      sightings.found[name] = entry
    }
    return ledger.take(sightings, at: now)
  }

  private func write(_ events: [WatchEvent]) throws(Failure) {
    for event in events.prefix(remaining(events)) {
      try console.print(isJSON ? event.json.line : event.line + "\n")
    }
  }

  /// Returns the number of events to print, limited by `-n`.
  private func remaining(_ events: [WatchEvent]) -> Int {
    guard let most = arguments.count(.first), let first = events.first else { return events.count }
    return max(0, most - (first.number - 1))
  }
}
