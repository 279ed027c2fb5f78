import Foundation
import Testing

/// The sentences with which the program stops, in the sources and in the table of the page.
struct `The sentences that stop the program` {
  // Calls of LarderSystem can be reached by no misuse from outside: the layers above check first.
  private static let modules = [
    "LarderBasics", "LarderDigest", "LarderMemory", "LarderDisk", "Larder", "LarderFixtures",
    "LarderFoundation", "LarderHTTP",
  ]

  /// Returns the sentences of a module's sources.
  private static func sentences(in module: String) throws -> [String] {
    try Articles.files(below: "Sources/\(module)", suffix: ".swift")
      .flatMap { path in
        let code = try Readme.text(of: path).replacing(#/(?m)^\s*\/\/.*$/#, with: "")
        let calls = code.matches(of: #/\b(?:preconditionFailure|precondition|fatalError)\(/#)
        return calls.map { call in
          let rest = code[call.range.upperBound...]
          let own = rest.firstMatch(of: #/(?s)^.*?"((?:\\.|[^"\\])*)"/#)
          let end = rest.firstRange(of: "precondition(")?.lowerBound ?? rest.endIndex
          // One without a sentence would show the next call's.
          guard let own, own.range.upperBound <= end else { return "nothing, in \(path)" }
          return String(own.1)
        }
      }
  }

  @Test func `are all in the table, and no others`() throws {
    let page = try Readme.text(of: "Sources/Larder/Larder.docc/HandlingErrors.md")
    let table = try #require(page.components(separatedBy: "| sentence | cure |\n").last)
    let rows = table.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
      .prefix { $0.hasPrefix("|") }
    let listed = rows.flatMap { row in
      row.split(separator: "|").first.map { Mentions.spans(of: String($0)) } ?? []
    }.map(String.init)
    let found = try Self.modules.flatMap(Self.sentences)
    #expect(found.count > 30)
    #expect(Set(found).subtracting(listed) == [], "missing in the table")
    #expect(Set(listed).subtracting(found) == [], "in no source")
    #expect(Set(listed).count == listed.count)
  }
}
