import Larder

/// Entries and bytes in classes, as rows with bars.
struct Histogram: Sendable {
  /// One class and what fell into it.
  struct Class: Sendable {
    /// What the row says.
    let label: String
    /// What tells a script which class it is.
    let members: [(String, JSONValue)]
    let tone: TextTone
    var count = 0
    var byteCount: UInt64 = 0
  }

  /// What stands above the labels.
  let title: String
  private(set) var classes: [Class]

  /// Starts with empty classes, in the order of the rows.
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

  /// The rows between the first and the last class that hold anything, with bars by number.
  func lines(barWidth: Int, _ style: TextStyle) -> [String] {
    var table = TextTable(columns: [
      TextTable.Column(title: title), TextTable.Column(title: "ENTRIES", isRightAligned: true),
      TextTable.Column(title: "BYTES", isRightAligned: true), TextTable.Column(title: ""),
    ])
    let most = UInt64(classes.map(\.count).max() ?? 0)
    for entry in occupied {
      let bar = Bar.text(UInt64(entry.count), of: most, width: barWidth, style: style)
      table.append([
        TextTable.Cell(entry.label), TextTable.Cell(entry.count.grouped),
        TextTable.Cell(ByteCount(Int64(clamping: entry.byteCount)).description),
        TextTable.Cell(bar, entry.tone == .plain ? .blue : entry.tone),
      ])
    }
    return table.lines(width: nil, style: style)
  }

  private var occupied: ArraySlice<Class> {
    guard let first = classes.firstIndex(where: { $0.count > 0 }),
      let last = classes.lastIndex(where: { $0.count > 0 })
    else { return [] }
    return classes[first...last]
  }

  /// All classes, the empty ones too, so that two answers have one shape.
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
