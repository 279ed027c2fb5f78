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

  /// The rows of the chart: what is done, Larder's bar, and the times, Larder's first.
  private static func chart() throws -> [(name: String, bar: Int, times: [Substring])] {
    let pattern = #/(?<name>[a-z, ]+?) +(?<time>[\d.]+) +(?<bar>#+) +(?<others>[\d., ]+)/#
    return try Readme.lines().compactMap { line in
      try pattern.wholeMatch(in: line).map { row in
        (String(row.name), row.bar.count, [row.time] + row.others.split(separator: " "))
      }
    }
  }

  @Test func `draws the figures that the guide on measuring has`() throws {
    let text = try Readme.text(of: "Sources/Larder/Larder.docc/Measuring.md")
    let guide = try #require(text.split(separator: "## Beside other stores\n").last)
    let rows = try Self.chart()
    #expect(rows.map(\.name) == ["read", "miss", "store, new", "store, over", "open"])
    for row in rows {
      let line = try #require(guide.split(separator: "\n").first { $0.hasPrefix("| \(row.name)") })
      let cells = line.split(separator: "|").map { $0.trimming() }
      // Without SQLite's times where it records no use.
      #expect(row.times == [cells[1], cells[3], cells[4], cells[5]], "\(row.name)")
      #expect(row.bar == Int((Double(row.times[0]) ?? 0) / 2 + 0.5), "\(row.name)")
    }
    let hit = try Readme.lines().contains { $0.hasPrefix("hit in memory 0.09 ") }
    #expect(hit && guide.contains("``MemoryCache`` takes 0.09 µs, in an `NSCache` 1.0"))
  }
}

extension Substring {
  fileprivate func trimming() -> Substring {
    Substring(trimmingCharacters(in: .whitespaces))
  }
}
