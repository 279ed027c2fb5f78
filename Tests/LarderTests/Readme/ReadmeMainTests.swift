import Foundation
import Testing

/// Programs that the pages show in whole, as a reader pastes them.
struct `The lines of a program in a page` {
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

  /// Compiles lines as the one file of a program and returns what the compiler says of them.
  private func complaints(about lines: [String], mode: String) throws -> String {
    let source = lines.joined(separator: "\n") + "\n"
    try Data(source.utf8).write(to: URL(filePath: directory.path + "/hello.swift"))
    // Here and not in the user's folders, because they may be read-only, and the compiler leaves a
    // folder behind in that of temporary files.
    let outcome = try Shell.attempt(
      "TMPDIR=\"$PWD\" swiftc -typecheck -parse-as-library -module-cache-path \"$PWD\""
        + " -swift-version \(mode) -I \(Self.modules ?? "") hello.swift",
      in: directory.path)
    return outcome.status == 0 ? outcome.complaints : outcome.complaints + "\nexit 1"
  }

  @Test(.enabled("no compiler here") { Self.canCompile }, arguments: ["5", "6"])
  func `compile without a warning`(mode: String) throws {
    let program = try #require(try Articles.blocks(at: "README.md", in: "swift").first).lines
    #expect(program.first == "import Larder")
    #expect(try complaints(about: program, mode: mode) == "")
  }

  @Test(.enabled("no compiler here") { Self.canCompile })
  func `are a program without a warning where Getting started has them as steps`() throws {
    let page = "Sources/Larder/Larder.docc/GettingStarted.md"
    let blocks = try Articles.blocks(at: page, in: "swift").map(\.lines)
    let place = "    // the lines of steps 2, 4 and 5"
    let frame = try #require(blocks.first { $0.contains(place) })
    let steps = blocks.filter { !$0.contains(place) }.flatMap { $0 }
    #expect(steps.count > 8)
    let program = frame.flatMap { $0 == place ? steps : [$0] }
    #expect(try complaints(about: program, mode: "6") == "")
  }

  @Test func `have one manifest in the README and in Getting started`() throws {
    let start = "// swift-tools-version:"
    let readme = try Readme.text(of: "README.md")
    let manifest = try #require(
      readme.components(separatedBy: "```\n").first { $0.hasPrefix(start) })
    #expect(manifest.contains(".package(name: \"larder\", path: \"../larder\")"))
    let page = "Sources/Larder/Larder.docc/GettingStarted.md"
    #expect(try Readme.text(of: page).contains("```\n\(manifest)```"))
  }
}
