import Foundation

/// The counters that the table in a source file's documentation lists.
enum DocumentedCounters {
  /// Returns the names in the first column.
  ///
  /// - Parameter file: A path below `Sources`.
  static func names(in file: String) throws -> [String] {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = root.appendingPathComponent("Sources/\(file)")
    return try String(contentsOf: source, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("/// | `") }
      .flatMap { line in
        line.split(separator: "|")[1].split(separator: "`").enumerated()
          .filter { $0.offset % 2 == 1 }.map { String($0.element) }
      }
  }
}
