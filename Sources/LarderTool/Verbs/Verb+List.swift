import Larder
import LarderFixtures

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
      largest. In keys and names, whatever a terminal might obey is shown as \\x.. or \\u{..}. \
      The entries of --json have the extended data too, which are not checked here. Of a fixture, \
      keys and times are those of its manifest, and the clock stands at the last of its uses, \
      which --json has as "clock".
      """
    ],
    run: { call throws(Failure) in try call.list() })
}

extension Option {
  /// The order of the rows and of `entries`.
  static let sort = Option(
    "sort", nil, .choice("ORDER", EntryOrder.allCases.map(\.rawValue)),
    "The order: used, expiry, size, key or name (default: used)")
  /// The number of rows to show.
  static let first = Option("first", "n", .count, "Show only the first N")
  /// The flag to show only entries that `larder expire` would remove.
  static let onlyExpired = Option("expired", nil, .flag, "Show only what has expired")
}

extension Call {
  /// Shows the entries.
  func list() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let manifest = try fixtureManifest()
    let now = manifest?.latestAccess ?? WallClock.system.now()
    var entries = try entries(of: cache)
    if let manifest { entries = entries.map(manifest.entry) }
    if arguments.has(.onlyExpired) { entries.removeAll { !$0.isExpired(at: now) } }
    let order = arguments.choice(.sort).flatMap(EntryOrder.init(rawValue:)) ?? .used
    entries.sort(by: order.precedes)
    let shown = entries.prefix(arguments.count(.first) ?? .max)
    sayUnreadable(entries)
    if isJSON {
      try printJSON(shown, clock: manifest == nil ? nil : now)
    } else {
      try printTable(shown, at: now)
      if manifest == nil {
        suggestAfterList(entries, shown: shown.count, at: now)
      } else if console.isTerminal {
        console.talk(console.style.dim("a fixture: its clock stands at \(now.rfc3339)") + "\n")
      }
    }
    return .fine
  }

  /// Returns the manifest if the directory is a fixture with at least one recorded entry.
  private func fixtureManifest() throws(Failure) -> FixtureManifest? {
    let path = try Self.path(of: arguments.directory)
    do throws(CacheError) {
      let manifest = try FixtureDirectory(path).manifest()
      return manifest.latestAccess == nil ? nil : manifest
    } catch  where error.code == .invalidArgument {
      // Another program's file of that name.
      return nil
    } catch {
      throw Failure(error, directory: arguments.directory)
    }
  }

  /// Reports the number of entries of which only the name and the status can be read.
  func sayUnreadable(_ entries: [DiskEntry]) {
    let count = entries.count { !$0.isReadable }
    if count == 0 { return }
    console.say("\(count.counted("entry")) cannot be read; check owner and mode")
  }

  /// Prints one object in pieces, so that memory does not grow with the entries.
  private func printJSON(
    _ entries: ArraySlice<DiskEntry>, clock: Timestamp?
  ) throws(Failure) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.write("schema", 1)
    if let clock { writer.write("clock", .time(clock)) }
    writer.write(name: "entries")
    writer.beginArray()
    for entry in entries {
      writer.write(entry.json)
      if writer.pendingByteCount > 64 << 10 { try console.print(writer.takeText()) }
    }
    writer.end()
    writer.end()
    try console.print(writer.takeText() + "\n")
  }

  private func printTable(_ entries: ArraySlice<DiskEntry>, at now: Timestamp) throws(Failure) {
    var table = TextTable(columns: DiskEntry.columns)
    for entry in entries { table.append(entry.cells(at: now, console.style)) }
    // Collected first, because the width of a column depends on all its rows.
    try console.print(table.lines(width: console.width, style: console.style))
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

extension DiskEntry {
  /// The columns of `list`, from left to right.
  ///
  /// On a narrow terminal the name is cut first, because the key is more useful, and left out last.
  static var columns: [TextTable.Column] {
    [
      TextTable.Column(title: "USED", canDrop: true),
      TextTable.Column(title: "EXPIRES", canDrop: true),
      TextTable.Column(title: "SIZE", isRightAligned: true),
      TextTable.Column(title: "NAME", canShrink: true, comfortableWidth: 9, canDrop: true),
      TextTable.Column(title: "KEY", canShrink: true, keepsEnds: true, comfortableWidth: 32),
    ]
  }

  /// Returns the row for people.
  func cells(at now: Timestamp, _ style: TextStyle) -> [TextTable.Cell] {
    [
      TextTable.Cell(useText(at: now)), expiryCell(at: now),
      TextTable.Cell(ByteCount(Int64(byteCount)).description), TextTable.Cell(name, .dim),
      TextTable.Cell(keyText(style), key == nil ? .dim : .plain),
    ]
  }

  /// The object for scripts.
  var json: JSONValue {
    let members: [(String, JSONValue)] = [
      ("size", JSONValue(byteCount)), ("allocated", JSONValue(allocatedByteCount)),
      ("last_access", .time(lastAccess)), ("expires", .time(expiry)),
      ("last_access_ns", .nanoseconds(lastAccess)), ("expires_ns", .nanoseconds(expiry)),
      ("lifetime", lifetime?.json ?? .null),
      ("readable", .bool(isReadable)),
      // Unknown, because the content was not read.
      ("verified", nil),
    ]
    return .object(
      [JSONValue.Member(name: "name", value: .string(name))]
        + JSONValue.keyMembers(key?.bytes)
        + (keyHint.map { [JSONValue.Member(name: "key_hint", value: .string($0))] } ?? [])
        + members.map { JSONValue.Member(name: $0.0, value: $0.1) }
        + JSONValue.dataMembers(extendedData))
  }
}

extension Expiration {
  /// A recorded lifetime in seconds, or as a word.
  var json: JSONValue {
    switch self {
    case .seconds(let count): JSONValue(count)
    case .never: "never"
    default: "fixed"
    }
  }
}

extension FixtureManifest {
  /// Returns the entry with expiry, last use, key and data from the manifest, because git keeps
  /// neither stamps nor attributes. A file without a line and without an attribute of its own does
  /// not expire, as in tests.
  fileprivate func entry(_ entry: DiskEntry) -> DiskEntry {
    var entry = entry
    if let line = EntryName(Array(entry.name.utf8)).flatMap({ candidates(for: $0).first }) {
      entry.key = line.key
      entry.keyHint = line.proof.hintForDisplay
      entry.lastAccess = line.lastAccess
      entry.expiry = line.expiry < .never ? line.expiry : nil
      entry.lifetime = Expiration(line.lifetime, until: line.expiry)
      entry.extendedData = line.extendedData
    } else if entry.lifetime == nil {
      entry.lastAccess = latestAccess ?? FixtureDirectory.start
      entry.expiry = nil
    }
    return entry
  }
}
