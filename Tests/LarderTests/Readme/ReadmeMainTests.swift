import Foundation
import Testing

/// The lines of the README as the whole of a program, where each variable is global.
struct `The README's lines in a main.swift` {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// The folder of the modules that the tests were built with.
  private static let modules: String? = {
    let arguments = ProcessInfo.processInfo.arguments
    let bundle =
      arguments.first { $0.hasSuffix(".xctest") || $0.contains(".xctest/") } ?? arguments[0]
    let folder = URL(filePath: bundle).deletingLastPathComponent().appending(path: "Modules").path
    return FileManager.default.fileExists(atPath: folder + "/Larder.swiftmodule") ? folder : nil
  }()

  private static let canCompile = modules != nil && Shell.has("swiftc")

  /// What the lines of a table or the body of a function use and do not declare.
  private static let given = [
    "import Larder",
    "let bytes: [UInt8] = [1]", "let (url, other, key) = (\"a\", \"b\", \"c\")",
    "@Sendable func load() async throws -> [UInt8] { [1] }",
    "let body = AsyncStream<[UInt8]> { $0.finish() }",
  ]

  /// Compiles lines as `main.swift` and returns what the compiler says of them.
  private func complaints(about lines: [String], mode: String) throws -> String {
    let source = lines.joined(separator: "\n") + "\n"
    try Data(source.utf8).write(to: URL(filePath: directory.path + "/main.swift"))
    // Here and not in the user's folders, because they may be read-only, and the compiler leaves a
    // folder behind in that of temporary files.
    let outcome = try Shell.attempt(
      "TMPDIR=\"$PWD\" swiftc -typecheck -module-cache-path \"$PWD\" -swift-version \(mode)"
        + " -I \(Self.modules ?? "") main.swift",
      in: directory.path)
    return outcome.status == 0 ? outcome.complaints : outcome.complaints + "\nexit 1"
  }

  /// The block of the README that says what the cache does in ten lines.
  private static func tenLines() throws -> [String] {
    try #require(try Articles.blocks(at: "README.md", in: "swift").first).lines
      .filter { !$0.hasPrefix("import ") }
  }

  @Test(.enabled("no compiler here") { Self.canCompile }, arguments: ["5", "6"])
  func `compile without a warning, in a function and at the top level`(mode: String) throws {
    let lines = try Self.tenLines()
    #expect(lines.count > 8)
    // As they stand, because that is what a reader pastes.
    #expect(try complaints(about: ["import Larder"] + lines, mode: mode) == "")
    // What the README says of the top level, where only loads are awaited.
    let body = lines.filter { !$0.hasPrefix("func ") && $0 != "}" }
      .map { $0.contains(" { ") ? $0 : $0.replacing("await ", with: "") }
    #expect(try complaints(about: Self.given + body, mode: mode) == "")
  }

  @Test(.enabled("no compiler here") { Self.canCompile })
  func `are a program without a warning where Getting started has them as steps`() throws {
    let page = "Sources/Larder/Larder.docc/GettingStarted.md"
    let steps = try Articles.blocks(at: page, in: "swift").flatMap(\.lines)
    #expect(steps.count > 8)
    #expect(try complaints(about: ["import Larder"] + steps, mode: "6") == "")
  }

  @Test func `have one manifest in the README and in Getting started`() throws {
    let start = "// swift-tools-version:"
    let readme = try Readme.text(of: "README.md")
    let manifest = try #require(
      readme.components(separatedBy: "```\n").first { $0.hasPrefix(start) })
    #expect(manifest.contains(".package(path: \"../larder\")"))
    let page = "Sources/Larder/Larder.docc/GettingStarted.md"
    #expect(try Readme.text(of: page).contains("```\n\(manifest)```"))
  }

  @Test(.enabled("no compiler here") { Self.canCompile })
  func `compile where they are a whole program, or say what to write`() throws {
    let blocks = try Articles.blocks(at: "README.md", in: "swift").map(\.lines)
    let program = try #require(blocks.dropFirst().first { $0.first == "import Larder" })
    #expect(try complaints(about: program, mode: "6") == "")
    let calls = try Self.writtenCalls()
    #expect(calls.count >= 3, "\(calls)")
    let lines = Self.given + ["let cache = try Cache(named: \"x\", coder: .bytes)"]
    #expect(try complaints(about: lines + calls.map { "_ = \($0)" }, mode: "6") == "")
  }

  /// The calls of the table that says what to write, where nothing of them is left out.
  private static func writtenCalls() throws -> [String] {
    try Readme.lines().filter { $0.hasPrefix("| ") }.flatMap { line in
      line.matches(of: #/`(?<code>try [^`]+)`/#).map { String($0.code) }
    }.filter { !$0.contains("…") }
  }
}
