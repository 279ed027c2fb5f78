import Foundation

/// The page on the format on disk, parsed.
enum FormatPage {
  /// A command of the example, and its output on the page.
  struct Step: Equatable {
    let command: String
    var output = ""
  }

  /// Returns the commands of the example in their order.
  static func steps() throws -> [Step] {
    let text = try Readme.text(of: "Sources/Larder/Larder.docc/OnDiskFormat.md")
    let blocks = text.components(separatedBy: "```console\n")
    guard blocks.count == 2 else { return [] }
    return steps(
      in: blocks[1].components(separatedBy: "```")[0].split(separator: "\n").map(String.init))
  }

  /// Returns the commands of a shell session, with the output shown.
  static func steps(in session: [String]) -> [Step] {
    var steps: [Step] = []
    for line in session {
      if line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2))))
      } else if let last = steps.indices.last {
        steps[last].output += line + "\n"
      }
    }
    return steps
  }

  /// Returns the bytes that a dump of `od -A x -t x1z` shows.
  static func bytes(ofDump dump: String) -> [UInt8] {
    dump.split(separator: "\n").flatMap { line in
      line.split(separator: ">")[0].split(separator: " ").dropFirst()
        .compactMap { UInt8($0, radix: 16) }
    }
  }
}
