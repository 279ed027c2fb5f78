import Testing

@testable import LarderTool

struct TextTableTests {
  static func table(_ rows: [[String]]) -> TextTable {
    var table = TextTable(columns: [
      .init(title: "SIZE", isRightAligned: true),
      .init(title: "USED"),
      .init(title: "KEY", canShrink: true),
    ])
    for row in rows { table.append(row) }
    return table
  }

  @Test func `columns are as wide as their widest cell`() {
    let table = Self.table([["1 B", "3 min ago", "a"], ["1023.9 KiB", "now", "longer"]])
    #expect(
      table.lines(width: nil) == [
        "      SIZE  USED       KEY",
        "       1 B  3 min ago  a",
        "1023.9 KiB  now        longer",
      ])
  }

  @Test func `no rows leave the titles`() {
    #expect(Self.table([]).lines(width: 80) == ["SIZE  USED  KEY"])
    #expect(TextTable(columns: []).lines(width: 80) == [""])
  }

  @Test func `wide characters take two columns`() {
    let table = Self.table([["\u{4e16}\u{754c}!", "x", "k"], ["12345", "y", "l"]])
    #expect(
      table.lines(width: nil) == [
        " SIZE  USED  KEY", "\u{4e16}\u{754c}!  x     k", "12345  y     l",
      ])
  }

  @Test func `a narrow terminal cuts the column that can shrink`() {
    let lines = Self.table([["1", "now", "abcdefghijklmnop"]]).lines(width: 22)
    #expect(lines[1] == "   1  now   abcdefghi\u{2026}")
    #expect(lines.allSatisfy { $0.displayWidth <= 22 })
  }

  @Test func `a pipe gets everything`() {
    let key = String(repeating: "k", count: 5000)
    #expect(Self.table([["1", "now", key]]).lines(width: nil)[1].hasSuffix(key))
  }

  @Test(arguments: [0, 1, 5, 20, .max])
  func `any width of terminal is survived`(width: Int) {
    for table in [Self.table([["1", "now", "abcdefghijklmnop"]]), Self.listing()] {
      let lines = table.lines(width: width)
      #expect(lines.count == 2)
      #expect(lines.allSatisfy { $0.displayWidth <= width })
    }
  }

  @Test func `rows of another length are made to fit`() {
    let lines = Self.table([["1"], ["2", "a", "b", "surplus"], []]).lines(width: nil)
    #expect(lines[1].hasPrefix("   1"))
    #expect(lines[2] == "   2  a     b")
  }

  @Test func `only the titles are set off`() {
    let lines = Self.table([["1", "a", "b"]]).lines(width: nil, style: .init(usesEscapes: true))
    #expect(lines[0].hasPrefix("\u{1b}[1m"))
    #expect(!lines[1].contains("\u{1b}"))
  }

  /// Returns a table like that of `list`, whose names may be dropped.
  static func listing() -> TextTable {
    var table = TextTable(columns: [
      .init(title: "USED"), .init(title: "NAME", canShrink: true, canDrop: true),
      .init(title: "KEY", canShrink: true, comfortableWidth: 20),
    ])
    let name = String(repeating: "n", count: 32)
    table.append([TextTable.Cell("3 min ago"), TextTable.Cell(name, .dim), "k1k2k3k4k5k6k7k8k9k0k"])
    return table
  }

  @Test(arguments: [
    (66, 32, 21), (60, 26, 21), (42, 8, 21), (41, 8, 20), (30, 8, 9), (29, 8, 8), (28, 0, 8),
  ])
  func `names go before keys, to comfort first, then to the least, then altogether`(
    width: Int, name: Int, key: Int
  ) {
    let line = Self.listing().lines(width: width)[1]
    let cells = line.split(separator: "  ")
    #expect(cells.last.map { String($0).displayWidth } == key)
    #expect((cells.count == 3 ? String(cells[1]).displayWidth : 0) == name)
    #expect(line.displayWidth <= width)
  }

  @Test func `colours take no room and end before the spaces`() {
    let lines = Self.listing().lines(width: nil, style: .init(usesEscapes: true))
    let plain = Self.listing().lines(width: nil)
    #expect(lines[1].contains("\u{1b}[2mnnn") && lines[1].contains("n\u{1b}[0m  k1"))
    #expect(lines.map(\.visibleWidth) == plain.map(\.displayWidth))
  }
}
