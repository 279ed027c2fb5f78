import Larder

extension Call {
  /// Prints one object in pieces, so that memory does not grow with the entries.
  func printJSON(_ entries: ArraySlice<DiskEntry>) throws(Failure) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.write("schema", 1)
    for member in clockMembers { writer.write(member.name, member.value) }
    writer.write("unknown_keys", JSONValue(entries.count { $0.key == nil }))
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

  func printTable(_ entries: ArraySlice<DiskEntry>, at now: Timestamp) throws(Failure) {
    var table = TextTable(columns: DiskEntry.columns)
    for entry in entries { table.append(entry.cells(at: now, console.style)) }
    // Collected first, because the width of a column depends on all its rows.
    try console.print(table.lines(width: console.width, style: console.style))
  }

  /// Tells people what the rows with the end of a key are, where a suggestion may stand too.
  func sayUnknownKeys(_ entries: ArraySlice<DiskEntry>) {
    let count = entries.count { $0.key == nil && $0.keyHint != nil }
    guard count > 0, hasPeople else { return }
    let dots = DiskEntry.hint("\u{2026}", console.style)
    let sentence =
      "\(dots) is the end of an unrecorded key, in \(count.counted("row")); "
      + "larder why DIR KEY finds it"
    let lines = sentence.wrapped(toWidth: console.width ?? .max)
    console.talk(lines.map { console.style.dim($0) + "\n" }.joined())
  }

  /// Reports the number of entries of which only the name and the status can be read.
  func sayUnreadable(_ entries: [DiskEntry]) {
    let count = entries.count { !$0.isReadable }
    if count == 0 { return }
    console.say("\(count.counted("entry")) cannot be read; check owner and mode")
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
