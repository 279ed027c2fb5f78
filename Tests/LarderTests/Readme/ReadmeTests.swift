import Foundation
import Testing

@testable import Larder

struct `The README` {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test func `has at most 120 lines`() throws {
    #expect(try Readme.lines().count <= 121)
  }

  @Test func `shows the example that is run here`() throws {
    let source = try Readme.text(of: "Tests/LarderTests/Readme/ReadmeExample.swift")
    let body = source.components(separatedBy: "  // README begins\n")[1]
      .components(separatedBy: "  // README ends")[0]
    let run = body.components(separatedBy: "\n").map(Self.squeezed).filter { !$0.isEmpty }
    let shown = try #require(try Articles.blocks(at: "README.md", in: "swift").first).lines.map {
      Self.squeezed($0.replacing("named: \"hello\"", with: "directory: directory"))
    }
    #expect(run.count > 5 && shown.firstRange(of: run) != nil)
  }

  /// Returns a line without its indentation and the alignment of its remark.
  private static func squeezed(_ line: String) -> String {
    line.split(separator: " ").joined(separator: " ")
  }

  @Test func `shows an example that does what it says`() async throws {
    let loads = try await readmeExample(in: directory.path + "/pages")
    #expect(loads == 1)
    #expect(try await readmeExample(in: directory.path + "/pages") == 0)
    #expect(try directory.names == ["pages"])
  }

  /// The rows of the chart: what is done, Larder's time and the raw calls'.
  private static func chart() throws -> [(name: String, time: Double, bar: Int, raw: Double?)] {
    let pattern = #/(?<name>[a-z, ]+?) +(?<time>[\d.]+)(?: +(?<bar>#+) +(?<raw>[\d.]+))?/#
    return try Readme.lines().compactMap { line in
      guard let row = try pattern.wholeMatch(in: line), let time = Double(row.time) else {
        return nil
      }
      return (String(row.name), time, row.bar?.count ?? 0, row.raw.flatMap { Double($0) })
    }
  }

  @Test func `draws the figures that the guide on measuring has`() throws {
    let table = try Readme.text(of: "Sources/Larder/Larder.docc/Measuring.md")
    let rows = [
      "miss": "miss", "read": "read", "remove": "remove", "store, new": "store-new",
      "store, over": "store-over",
    ]
    let chart = try Self.chart().filter { $0.raw != nil }
    #expect(Set(chart.map(\.name)) == Set(rows.keys))
    for bar in chart {
      // The second column is of 1 KiB: `| read | 5.1 µs · 1.30 | 6.9 µs · 1.29 | …`.
      let start = "| \(rows[bar.name] ?? "") | "
      let row = try #require(table.split(separator: "\n").first { $0.hasPrefix(start) })
      let cell = try #require(
        try #/([\d.]+) µs · ([\d.]+)/#.wholeMatch(in: row.split(separator: "|")[2].trimming()))
      let (time, ratio) = try (#require(Double(cell.1)), #require(Double(cell.2)))
      #expect(bar.time == time, "\(bar.name)")
      #expect(abs((bar.raw ?? 0) - time / ratio) < 0.06, "\(bar.name)")
      #expect(bar.bar == Int((time / 2).rounded()), "\(bar.name)")
    }
    // In nanoseconds there.
    let hit = try Self.chart().first { $0.name == "hit in memory" }
    #expect(hit?.time == 0.06 && table.contains("| keys of `CacheKey` | 62 |"))
  }
}

extension Substring {
  fileprivate func trimming() -> Substring {
    Substring(trimmingCharacters(in: .whitespaces))
  }
}
