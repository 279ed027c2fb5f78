import Larder

/// Numbers of entries and bytes by class, shown as rows with bars.
struct Histogram: Sendable {
  /// One class, and the entries and bytes in it.
  struct Class: Sendable {
    /// The label of the row.
    let label: String
    /// The JSON members that identify the class.
    let members: [(String, JSONValue)]
    let tone: TextTone
    var count = 0
    var byteCount: UInt64 = 0
  }

  /// The title above the labels.
  let title: String
  private(set) var classes: [Class]

  /// Creates empty classes, in the order of the rows.
  init(
    _ title: String, _ classes: [(label: String, members: [(String, JSONValue)], tone: TextTone)]
  ) {
    self.title = title
    self.classes = classes.map { Class(label: $0.label, members: $0.members, tone: $0.tone) }
  }

  /// Counts one entry.
  mutating func add(_ byteCount: UInt64, toClass index: Int) {
    classes[index].count += 1
    classes[index].byteCount.addSaturating(byteCount)
  }

  /// Returns the rows from the first to the last class with entries. The bars show the numbers of
  /// entries.
  func lines(barWidth: Int, _ style: TextStyle, showsBytes: Bool = true) -> [String] {
    let bytes = TextTable.Column(title: "BYTES", isRightAligned: true)
    var table = TextTable(
      columns: [
        TextTable.Column(title: title),
        // Where there is no room for the bytes, the bars need that of the title too.
        TextTable.Column(title: showsBytes ? "ENTRIES" : "", isRightAligned: true),
      ] + (showsBytes ? [bytes] : []) + [TextTable.Column(title: "")])
    let most = UInt64(classes.map(\.count).max() ?? 0)
    for entry in occupied {
      let bar = Bar.text(UInt64(entry.count), of: most, width: barWidth, style: style)
      let size = TextTable.Cell(ByteCount(Int64(clamping: entry.byteCount)).description)
      table.append(
        [TextTable.Cell(entry.label), TextTable.Cell(entry.count.grouped)]
          + (showsBytes ? [size] : [])
          + [TextTable.Cell(bar, entry.tone == .plain ? .blue : entry.tone)])
    }
    return table.lines(width: nil, style: style)
  }

  private var occupied: ArraySlice<Class> {
    guard let first = classes.firstIndex(where: { $0.count > 0 }),
      let last = classes.lastIndex(where: { $0.count > 0 })
    else { return [] }
    return classes[first...last]
  }

  /// All classes, the empty ones too, so that every answer has the same members.
  var json: JSONValue {
    .array(
      classes.map { entry in
        let counts: [(String, JSONValue)] = [
          ("entries", JSONValue(entry.count)), ("bytes", JSONValue(entry.byteCount)),
        ]
        return .object((entry.members + counts).map { JSONValue.Member(name: $0.0, value: $0.1) })
      })
  }
}
