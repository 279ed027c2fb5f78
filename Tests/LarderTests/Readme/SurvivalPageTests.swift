import Testing

/// The page on what survives what names a test or script for each row. These tests check that each
/// one exists.
struct SurvivalPageTests {
  private static func rows() throws -> [[Substring]] {
    let text = try Readme.text(of: "Sources/Larder/Larder.docc/WhatSurvivesWhat.md")
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("| ") }
    return lines.dropFirst().map { line in
      line.split(separator: "|").map { Substring($0.trimmingPrefix(" ")) }
    }
  }

  @Test func `every row says what happens in both cases, and is checked by what there is`() throws {
    let runAll = try Readme.text(of: "Tests/Reliability/run-all")
    let rows = try Self.rows()
    #expect(rows.count > 10)
    for row in rows {
      try #require(row.count == 4, "\(row)")
      let checker = row[3].split(separator: " ").first ?? ""
      #expect(checker == "tests" || runAll.contains("\n  \(checker)\n"), "\(row)")
    }
  }

  @Test func `every script of faults and crashes has a row`() throws {
    let checkers = try Set(Self.rows().compactMap { $0.last?.split(separator: " ").first })
    #expect(checkers.isSuperset(of: ["kill-writers", "crash-states", "limits", "clocks", "tests"]))
  }
}
