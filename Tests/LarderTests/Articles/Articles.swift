import Foundation

/// The articles of the documentation, parsed.
enum Articles {
  /// A block of code in an article.
  struct Block: Sendable, CustomStringConvertible {
    let article: String
    let lines: [String]

    var description: String { "\(article): \(lines.first ?? "")" }
  }

  private static let folder = "Sources/Larder/Larder.docc"
  private static let root = Fixture.root.replacing("/Fixtures", with: "")

  /// The names of all articles.
  static var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")
        .filter { $0.hasSuffix(".md") }.sorted()
    }
  }

  /// Returns the blocks of an article in a language, each line without its margin.
  static func blocks(of article: String, in language: String) throws -> [Block] {
    try blocks(at: "\(folder)/\(article)", in: language)
  }

  /// Returns the blocks of a page in a language, each line without its margin.
  static func blocks(at path: String, in language: String) throws -> [Block] {
    var blocks: [Block] = []
    var lines: [String]?
    for line in try Readme.text(of: path).components(separatedBy: "\n") {
      if line == "```\(language)" {
        lines = []
      } else if line == "```", let whole = lines {
        blocks.append(Block(article: path, lines: whole))
        lines = nil
      } else {
        lines?.append(line)
      }
    }
    return blocks
  }

  /// Returns all lines of Swift that are compiled for the articles, file by file.
  static func compiledLines() throws -> [String] {
    let folders = [
      "Tests/LarderTests/Articles", "Tests/Examples/ForecastTests", "Tests/LarderHTTPTests",
      "Tests/Servers",
    ]
    return try folders.flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")
        .filter { $0.hasSuffix(".swift") }.sorted()
        .flatMap { try Readme.text(of: "\(folder)/\($0)").components(separatedBy: "\n") }
    }.map(squeezed).filter { !$0.isEmpty }
  }

  /// Returns a line without its margin and the alignment of its remark.
  static func squeezed(_ line: String) -> String {
    line.split(separator: " ").joined(separator: " ")
  }
}
