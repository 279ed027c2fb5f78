import Larder

/// The differences between two directories of entries.
struct DirectoryDifference: Sendable {
  /// A difference between two entries of one name.
  enum Change: String, Sendable, Hashable {
    case content
    case extendedData = "extended data"
    case expiry
    case lifetime
    case key
    case unreadable
  }

  /// The entries that only the first directory has.
  var onlyLeft: [DiskEntry] = []
  /// The entries that only the second directory has.
  var onlyRight: [DiskEntry] = []
  /// The entries that differ, as the second directory has them, with the key that either knows.
  private(set) var changed: [(entry: DiskEntry, changes: [Change])] = []
  /// The number of entries that are the same in both.
  private(set) var sameCount = 0

  /// Whether there is no difference.
  var isEmpty: Bool { onlyLeft.isEmpty && onlyRight.isEmpty && changed.isEmpty }

  /// Adds an entry that both directories have, with its changes, if any.
  mutating func add(_ entry: DiskEntry, _ changes: [Change]) {
    if changes.isEmpty {
      sameCount += 1
    } else {
      changed.append((entry, changes))
    }
  }

  /// Returns the lines for people, with the totals at the end.
  func lines(width: Int?, style: TextStyle) -> [String] {
    var table = TextTable(columns: [
      TextTable.Column(title: ""), TextTable.Column(title: "SIZE", isRightAligned: true),
      TextTable.Column(title: "WHAT"),
      TextTable.Column(title: "NAME", canShrink: true, comfortableWidth: 9, canDrop: true),
      TextTable.Column(title: "KEY", canShrink: true, keepsEnds: true, comfortableWidth: 32),
    ])
    for entry in onlyLeft { table.append(Self.row("-", entry, "only in DIR", .red, style)) }
    for entry in onlyRight { table.append(Self.row("+", entry, "only in DIR2", .green, style)) }
    for (entry, changes) in changed {
      let what = changes.map(\.rawValue).joined(separator: ", ")
      table.append(Self.row("~", entry, what, .yellow, style))
    }
    return (isEmpty ? [] : table.lines(width: width, style: style)) + [sum]
  }

  private static func row(
    _ sign: String, _ entry: DiskEntry, _ what: String, _ tone: TextTone, _ style: TextStyle
  ) -> [TextTable.Cell] {
    [
      TextTable.Cell(sign, tone), TextTable.Cell(ByteCount(Int64(entry.byteCount)).description),
      TextTable.Cell(what, tone), TextTable.Cell(entry.name, .dim),
      TextTable.Cell(entry.keyText(style)),
    ]
  }

  private var sum: String {
    "\(sameCount.grouped) the same, \(changed.count.grouped) changed, "
      + "\(onlyLeft.count.grouped) only in DIR, \(onlyRight.count.grouped) only in DIR2"
  }

  /// The object for scripts.
  var json: JSONValue {
    [
      "schema": 1, "same": JSONValue(sameCount), "only_left": .array(onlyLeft.map(\.json)),
      "only_right": .array(onlyRight.map(\.json)),
      "changed": .array(
        changed.map { entry, changes in
          let names = changes.map {
            JSONValue.string($0 == .extendedData ? "extended_data" : $0.rawValue)
          }
          return ["changes": .array(names), "entry": entry.json]
        }),
    ]
  }
}
