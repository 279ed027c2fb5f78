import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderFixtures
@testable import LarderSystem

struct `The README` {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test func `has at most 250 lines`() throws {
    #expect(try Readme.lines().count <= 250)
  }

  @Test func `shows the example that is compiled here`() throws {
    let source = try Readme.text(of: "Tests/LarderTests/Readme/ReadmeExample.swift")
    let body = source.components(separatedBy: "  // README begins\n")[1]
      .components(separatedBy: "  // README ends")[0]
    let compiled = ["import Larder"] + body.components(separatedBy: "\n").map(Self.squeezed)
    let shown = try #require(try Articles.blocks(at: "README.md", in: "swift").first).lines.map {
      Self.squeezed($0.replacingOccurrences(of: "\"/var/cache/app/pages\"", with: "directory"))
    }
    // The function that the README puts the lines into is another one here.
    let lines = shown.filter { !$0.isEmpty && !$0.hasPrefix("func ") && $0 != "}" }
    #expect(lines == compiled.filter { !$0.isEmpty })
  }

  /// Returns a line without its indentation and the alignment of its remark.
  private static func squeezed(_ line: String) -> String {
    line.split(separator: " ").joined(separator: " ")
  }

  @Test func `shows an example that does what it says`() async throws {
    let start = ContinuousClock.now
    let (hit, page, tier) = try await readmeExample(
      in: directory.path + "/pages", bytes: [1, 2], url: "a", other: "b")
    #expect(hit == [1, 2])
    #expect(page == Array("loaded".utf8))
    // If a minute has passed on a busy machine, the value is read from disk again.
    #expect(tier == .memory || ContinuousClock.now - start > .seconds(50))
    #expect(try directory.names == ["pages"])
  }

  @Test func `names every verb of the command`() throws {
    let text = try Readme.lines().joined(separator: "\n")
    let verbs = [
      "put", "get", "rm", "path", "why", "list", "top", "info", "verify", "diff", "report", "watch",
      "expire", "trim", "clear", "stamp", "record", "fixture", "completions", "man",
    ]
    for verb in verbs {
      #expect(text.contains("larder \(verb) ") || text.contains("`\(verb) "), "\(verb)")
    }
  }
}
