import Foundation
import Testing

@testable import Larder

/// What the design promises of the sources, found in the sources.
struct `The house` {
  private static let root = URL(filePath: Fixture.root).deletingLastPathComponent().path

  /// The Swift files below a folder, with their code: no comments, no strings.
  private static func code(below folder: String) throws -> [(path: String, text: String)] {
    try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)").sorted()
      .filter { $0.hasSuffix(".swift") }
      .map { path in
        let text = try Readme.text(of: "\(folder)/\(path)")
        return ("\(folder)/\(path)", text.replacing(#/\/\/.*|"(?:\\.|[^"\\])*"/#, with: ""))
      }
  }

  // The examples under Tests/Examples are packages of their own in all but name, which may use any
  // module; the benchmark measures raw calls.
  @Test func `libc is imported under System alone`() throws {
    for folder in ["Sources/Larder", "Sources/LarderTool", "Sources/LarderFoundation"] {
      for (path, text) in try Self.code(below: folder) where !path.contains("/Larder/System/") {
        #expect(!text.contains(#/import (?:Glibc|Musl|Foundation\n)/#), "\(path)")
      }
    }
  }

  @Test func `the word unsafe stands under System, or where a comment gives the figure`() throws {
    let measured = ["Sources/Larder/Memory/SlotBuffer.swift"]
    for folder in ["Sources/Larder", "Sources/LarderTool", "Sources/LarderFoundation"] {
      for (path, text) in try Self.code(below: folder)
      where !path.contains("/Larder/System/") && !measured.contains(path) {
        #expect(!text.contains(#/\bunsafe\b/#), "\(path)")
      }
    }
  }

  @Test func `no example is longer than 119 lines`() throws {
    let folder = "Tests/Examples"
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/\(folder)") {
      let files = try FileManager.default.contentsOfDirectory(
        atPath: "\(Self.root)/\(folder)/\(name)")
      let count = try files.filter { $0.hasSuffix(".swift") }.reduce(0) { sum, file in
        try sum + Readme.text(of: "\(folder)/\(name)/\(file)").count { $0 == "\n" }
      }
      #expect((1..<120).contains(count), "\(name): \(count)")
    }
  }
}
