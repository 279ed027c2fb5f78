import Testing

/// The size of the library, so that it does not grow again unseen.
///
/// To lower a number: run the test with the number set to 0; the failure says what was counted. If
/// a change needs a larger number, its commit says what the lines do for a user.
struct `The size of the house` {
  /// A source file without `LarderTool` and the other modules on top of the library.
  private struct File {
    let path: String
    let text: String

    var lineCount: Int { text.count { $0 == "\n" } }
    var isOfDisk: Bool { path.hasPrefix("Sources/LarderDisk/") }

    /// The lines of the declarations that begin like this, to their closing brace.
    func blockLines(_ pattern: String) throws -> Int {
      let start = try Regex(pattern)
      var (count, isInside) = (0, false)
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.prefixMatch(of: start) != nil { isInside = true }
        if isInside { count += 1 }
        if line == "}" { isInside = false }
      }
      return count
    }

    func count(_ pattern: String) throws -> Int {
      try text.matches(of: Regex(pattern).anchorsMatchLineEndings()).count
    }
  }

  private static let modules = [
    "LarderLibc", "LarderSystem", "LarderDigest", "LarderBasics", "LarderMemory", "LarderDisk",
    "Larder", "LarderFixtures",
  ]

  private static func files() throws -> [File] {
    try modules.flatMap { try Articles.files(below: "Sources/\($0)", suffix: ".swift") }
      .map { File(path: $0, text: try Readme.text(of: $0)) }
  }

  @Test func `no number rises`() throws {
    let files = try Self.files()
    let disk = files.filter(\.isOfDisk)
    let engine = #"^(public |package |private |fileprivate )?(final class|extension) DiskEngine\b"#
    let counted = [
      ("lines of the library", files.reduce(0) { $0 + $1.lineCount }, 25_200),
      ("its files", files.count, 156),
      ("lines of LarderDisk", disk.reduce(0) { $0 + $1.lineCount }, 12_000),
      ("its files", disk.count, 62),
      ("files that declare or extend DiskEngine", try disk.count { try $0.count(engine) > 0 }, 11),
      ("lines in its blocks", try disk.reduce(0) { try $0 + $1.blockLines(engine) }, 2_294),
      ("places that take the state's lock", try sum(#"\bwithState\b"#, in: disk) - 1, 73),
      ("places that unlink", try sum(#"\bhandle\.unlink\("#, in: disk), 0),
      ("functions note…", try sum(#"\bfunc note\w*"#, in: disk), 3),
    ]
    for (what, count, most) in counted {
      #expect(count <= most, "\(what): \(count), which was \(most)")
    }
  }

  private func sum(_ pattern: String, in files: [File]) throws -> Int {
    try files.reduce(0) { try $0 + $1.count(pattern) }
  }
}
