import Foundation

/// The README and other files of the repository, as text.
enum Readme {
  private static let root = URL(fileURLWithPath: Fixture.root).deletingLastPathComponent().path

  static func lines() throws -> [String] {
    try text(of: "README.md").components(separatedBy: "\n")
  }

  static func text(of path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }

  /// Returns the shell recipes of the guide on inspecting a directory, without their remarks.
  static func recipes() throws -> [String] {
    let page = "Sources/Larder/Larder.docc/InspectingADirectory.md"
    return try Articles.blocks(at: page, in: "sh").flatMap(\.lines).map { line in
      line.components(separatedBy: "  # ")[0].trimmingCharacters(in: .whitespaces)
    }
  }
}
