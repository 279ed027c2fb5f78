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

  /// Returns the blocks of a page, or of the doc comments of a source, in a language.
  static func blocks(at path: String, in language: String) throws -> [Block] {
    let isSource = path.hasSuffix(".swift")
    let text = try isSource ? docComments(at: path) : Readme.text(of: path)
    var blocks: [Block] = []
    var lines: [String]?
    for line in text.components(separatedBy: "\n") {
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

  /// The files of the code in pages, each function of which is one in which a reader may paste it.
  static func snippetFiles() throws -> [String] {
    try ["Tests/LarderTests/Articles", "Tests/LarderHTTPTests", "Tests/LarderFoundationTests"]
      .flatMap { try files(below: $0, suffix: "Snippets.swift") }
  }

  /// Returns all lines of Swift that are compiled for the pages, file by file.
  static func compiledLines() throws -> [String] {
    let programs = try [
      "Tests/Examples/ForecastTests", "Tests/Servers", "Tests/LarderTests/Readme",
    ].flatMap { try files(below: $0, suffix: ".swift") }
    return try (snippetFiles() + programs)
      .flatMap { try Readme.text(of: $0).components(separatedBy: "\n") }
      .map(squeezed).filter { !$0.isEmpty && !$0.hasPrefix("import Larder") }
  }

  /// Returns the paths of all files below a folder whose names end so.
  static func files(below folder: String, suffix: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
      .filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
  }

  /// Returns the doc comments of a file, each as a paragraph of its own, without slashes.
  static func docComments(at path: String) throws -> String {
    try Readme.text(of: path).components(separatedBy: "\n").map { line in
      let line = line.drop { $0 == " " }
      guard line.hasPrefix("///") else { return "" }
      return String(line.dropFirst(line.hasPrefix("/// ") ? 4 : 3))
    }.joined(separator: "\n")
  }

  /// Returns a line without its margin and the alignment of its remark.
  static func squeezed(_ line: String) -> String {
    line.split(separator: " ").joined(separator: " ")
  }
}
