import Foundation
import LarderFixtures
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory

/// The design's rules for the sources, checked in the sources.
struct `The house` {
  private static let root = URL(filePath: Fixture.root).deletingLastPathComponent().path

  /// The modules above LarderSystem, each after those that it may import.
  private static let modules = [
    "LarderDigest", "LarderBasics", "LarderMemory", "LarderDisk", "Larder", "LarderFixtures",
    "LarderFoundation", "LarderHTTP", "LarderTool",
  ]

  /// Returns the code of the Swift files in a folder, without comments and strings.
  static func code(below folder: String) throws -> [(path: String, text: String)] {
    try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)").sorted()
      .filter { $0.hasSuffix(".swift") }
      .map { path in
        let text = try Readme.text(of: "\(folder)/\(path)")
        return ("\(folder)/\(path)", text.replacing(#/\/\/.*|"(?:\\.|[^"\\])*"/#, with: ""))
      }
  }

  /// The calls of a command's process and terminal, which no cache makes.
  private static let tools = "Sources/LarderTool/System/"

  // Not for the examples in Tests/Examples, which may use any module like packages of their own,
  // and not for the benchmark, which measures raw calls.
  @Test(arguments: modules)
  func `only LarderSystem and the tool's own layer import libc`(_ module: String) throws {
    for (path, text) in try Self.code(below: "Sources/\(module)")
    where !path.hasPrefix(Self.tools) {
      #expect(!text.contains(#/import (?:Glibc|Musl|LarderLibc\n|Foundation\n)/#), "\(path)")
    }
  }

  @Test(arguments: modules)
  func `only they say unsafe, or a file whose comment gives the figure`(
    _ module: String
  ) throws {
    let measured = ["Sources/LarderMemory/LRU/SlotBuffer.swift"]
    for (path, text) in try Self.code(below: "Sources/\(module)")
    where !measured.contains(path) && !path.hasPrefix(Self.tools) {
      #expect(!text.contains(#/\bunsafe\b/#), "\(path)")
    }
  }

  @Test(arguments: modules)
  func `a layer imports only the layers before it`(_ module: String) throws {
    let order = ["LarderSystem"] + Self.modules
    let higher = order[(try #require(order.firstIndex(of: module)) + 1)...]
    for (path, text) in try Self.code(below: "Sources/\(module)") {
      for name in higher {
        #expect(!text.contains(try Regex("import \(name)\\b")), "\(path)")
      }
    }
  }

  // Such a limit counts the time in which a test waits for its turn among all others, so tests
  // would fail on a slow machine. See `MachineTime`.
  @Test func `no test has a limit in real time`() throws {
    for path in try FileManager.default.subpathsOfDirectory(atPath: "\(Self.root)/Tests")
    where path.hasSuffix(".swift") {
      #expect(try !Readme.text(of: "Tests/\(path)").contains("timeLimit" + "("), "\(path)")
    }
  }

  // The formatter wraps no comment and no string.
  @Test(arguments: ["Sources", "Tests"])
  func `no line is longer than 100 characters`(_ folder: String) throws {
    for path in try FileManager.default.subpathsOfDirectory(atPath: "\(Self.root)/\(folder)")
    where path.hasSuffix(".swift") {
      let lines = try Readme.text(of: "\(folder)/\(path)").split(separator: "\n")
      #expect(lines.first { $0.count > 100 } == nil, "\(path)")
    }
  }

  @Test func `no example is longer than 220 lines`() throws {
    let folder = "Tests/Examples"
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/\(folder)") {
      let files = try FileManager.default.contentsOfDirectory(
        atPath: "\(Self.root)/\(folder)/\(name)")
      let count = try files.filter { $0.hasSuffix(".swift") }.reduce(0) { sum, file in
        try sum + Readme.text(of: "\(folder)/\(name)/\(file)").count { $0 == "\n" }
      }
      #expect((1...220).contains(count), "\(name): \(count)")
    }
  }
}
