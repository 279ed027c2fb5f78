import Larder

extension Verb {
  /// `larder watch`
  static let watch = Verb(
    name: "watch",
    summary: "Show stores, uses, expiries, evictions and removals as they happen",
    synonyms: ["monitor", "tail", "follow", "events"],
    operands: [.directory],
    ownOptions: [.limit, .first, .awaits],
    printsLines: true,
    notes: [
      """
      Ends with q or Ctrl-C, after N events with -n, with status 3 when the directory is gone, or \
      with 141 when its reader is. In a pipe, with --plain and with TERM=dumb, one event a line; \
      with --json, one object a line. The system does not tell which process removed an entry, nor \
      why. An expired one counts as swept. Evicted counts what was among the least recently used, \
      and what goes in a purge: while values are stored, many at once leave a directory that is as \
      full as --limit, or as ever since the watch began.
      """,
      """
      It looks ten times a second and shows what a name has become since the last look. A value \
      that was overwritten or removed again in between is not seen; the terminal shows how many \
      overwritten ones are known. When events come faster than the system keeps them, the \
      directory is read anew, and uses and replacements of the same length meanwhile are not seen: \
      the terminal says so, a pipe gets it on stderr, and --json has an object with the event \
      lost. On a network file system, what other machines do is not seen.
      """,
    ],
    run: { call throws(Failure) in try call.watch() })
}

extension Option {
  /// The flag to wait for a directory that does not exist yet.
  static let awaits = Option("wait", nil, .flag, "Wait until the directory exists")
}

extension Call {
  /// Shows the events in the directory until the user ends it.
  func watch() throws(Failure) -> ExitCode {
    let isLive = console.redrawsLines && !isJSON
    let keyboard = isLive ? Keyboard.attached() : nil
    var isNew = false
    if arguments.has(.awaits) {
      guard let hasWaited = try waitForDirectory(keyboard) else { return .fine }
      isNew = hasWaited
    } else if try directoryKind() == nil {
      throw .missing(arguments.directory, cure: "--wait would wait for it")
    }
    let cache = try openForReading()
    // The watch starts before the listing, so that an event between the two comes twice, not never.
    var watch = try onCache { () throws(CacheError) in try DirectoryTail(cache) }
    guard let entries = try contents(of: cache, keyboard) else { return .fine }
    var ledger = WatchLedger(
      isNew ? [] : entries, at: WallClock.system.now(), limit: arguments.size(.limit)?.count)
    // What is in a directory that was waited for was stored since.
    let names = isNew ? entries.compactMap { EntryName(Array($0.name.utf8)) } : []
    var events = names.map(DirectoryTail.Event.published)
    var screen = WatchScreen(
      directory: cache.directory, limit: arguments.size(.limit)?.count, console: console,
      blindness: watch.blindness)
    if !isLive, let blindness = watch.blindness { console.say(blindness) }
    while true {
      events += try onCache { () throws(CacheError) in try watch.events() }
      let hasEnded = events.contains(.ended)
      let changes = try take(events, into: &ledger, from: cache)
      if isLive {
        try screen.show(ledger, changes)
      } else {
        if events.contains(.lost) { try writeLoss(ledger) }
        try write(changes)
      }
      if let most = arguments.count(.first), ledger.eventCount >= most { return .fine }
      if hasEnded { throw .gone }
      events = []
      if try pause(keyboard) { return .fine }
    }
  }

  /// Waits for the next look, and returns whether the user has asked to end.
  ///
  /// A tenth of a second: a person can follow it, and a burst is shown at once.
  private func pause(_ keyboard: borrowing Keyboard?) throws(Failure) -> Bool {
    switch keyboard {
    case .some(let keyboard): return keyboard.asksToEnd(within: .milliseconds(100))
    case nil:
      // Without an event no write would tell it.
      if StandardStream.output.losesReader(within: 100) { throw .brokenPipe }
      return false
    }
  }

  /// Waits until the directory exists. Returns whether it did not at first; nil if the user has
  /// asked to end.
  private func waitForDirectory(_ keyboard: borrowing Keyboard?) throws(Failure) -> Bool? {
    var hasSaid = false
    while try directoryKind() == nil {
      if !hasSaid { console.say("waiting for \(arguments.directory.quotedForDisplay)") }
      hasSaid = true
      if try pause(keyboard) { return nil }
    }
    return hasSaid
  }

  /// Returns all entries; nil if the user has asked to end meanwhile.
  private func contents(
    of cache: DiskCache, _ keyboard: borrowing Keyboard?
  ) throws(Failure) -> [DiskEntry]? {
    switch keyboard {
    case .some(let keyboard): try entries(of: cache, unlessEndedBy: keyboard)
    case nil: try entries(of: cache)
    }
  }

  /// Looks up the entries that the events name, and updates the ledger.
  private func take(
    _ events: [DirectoryTail.Event], into ledger: inout WatchLedger, from cache: DiskCache
  ) throws(Failure) -> [WatchEvent] {
    let now = WallClock.system.now()
    if events.contains(.lost) { return ledger.replaceAll(try entries(of: cache), at: now) }
    var sightings = WatchSightings()
    for item in events { sightings.add(item) }
    for name in sightings.order {
      let entry = try onCache { () throws(CacheError) in try cache.entry(named: name) }
      sightings.found[name] = entry
    }
    return ledger.take(sightings, at: now)
  }

  /// Reports that the system dropped events.
  private func writeLoss(_ ledger: WatchLedger) throws(Failure) {
    guard isJSON else {
      return console.say("events were lost, so the directory was read anew")
    }
    let object: JSONValue = [
      "schema": 1, "time": .time(WallClock.system.now()), "event": "lost", "entry": nil,
      "entries": JSONValue(ledger.count), "bytes": JSONValue(ledger.byteCount),
    ]
    try console.print(object.line)
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
