import Foundation

/// The README, parsed.
enum Readme {
  private static let root = URL(fileURLWithPath: Fixture.root).deletingLastPathComponent().path

  static func lines() throws -> [String] {
    try text(of: "README.md").components(separatedBy: "\n")
  }

  static func text(of path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }

  /// Returns the lines of all code blocks in a language.
  static func code(in language: String) throws -> [String] {
    var isInside = false
    return try lines().filter { line in
      if line.hasPrefix("```") {
        isInside = line == "```\(language)"
        return false
      }
      return isInside
    }
  }

  /// Returns the shell recipes without their remarks.
  static func recipes() throws -> [String] {
    try code(in: "sh").map { line in
      line.components(separatedBy: "  # ")[0].trimmingCharacters(in: .whitespaces)
    }
  }
}
