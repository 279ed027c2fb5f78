import Testing

/// The page of promises names a test or a script for each. These tests check that each exists.
struct PromisePageTests {
  private static func rows() throws -> [(promise: Substring, checkers: Substring)] {
    let text = try Readme.text(of: "Sources/Larder/Larder.docc/Promises.md")
    let cells = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map {
      $0.split(separator: "|").map { Substring($0.trimmingPrefix(" ")) }
    }
    return cells.filter { $0.count > 1 && !$0[0].hasPrefix("promise") }.map { ($0[0], $0[1]) }
  }

  @Test func `every promise is checked by a test or a script that there is`() throws {
    let sources = try Articles.files(below: "Tests", suffix: ".swift").map(Readme.text(of:))
    let scripts = Set(try Articles.files(below: "Tests/Reliability", suffix: ""))
    let rows = try Self.rows()
    #expect(rows.count > 25)
    for (promise, checkers) in rows {
      let tests = checkers.matches(of: #/"(?<law>[^"]+)"/#).map(\.law)
      let names = checkers.matches(of: #/`(?<name>[^`]+)`/#).map(\.name)
      #expect(tests.count + names.count > 0, "\(promise)")
      for law in tests {
        #expect(sources.contains { $0.contains("func `\(law)`") }, "\(promise): \(law)")
      }
      for name in names {
        #expect(scripts.contains("Tests/Reliability/\(name)"), "\(promise): \(name)")
      }
    }
  }
}
