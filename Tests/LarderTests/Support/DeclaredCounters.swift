import Foundation

/// The counters that a source file declares.
enum DeclaredCounters {
  /// Returns the names of the public properties that only the library changes.
  ///
  /// - Parameter file: A path below `Sources`.
  static func names(in file: String) throws -> [String] {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = root.appendingPathComponent("Sources/\(file)")
    return try String(contentsOf: source, encoding: .utf8)
      .matches(of: #/public internal\(set\) var (\w+)/#).map { String($0.1) }
  }
}
