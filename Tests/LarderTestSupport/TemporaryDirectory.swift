import Foundation

/// A directory for one test, removed at its end.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init() throws {
    path = try TemporaryRoot.path() + "/\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    Watchdog.progress()
  }

  deinit {
    Watchdog.progress()
    do {
      try TemporaryRoot.remove(path)
    } catch {
      print("left behind: \(path): \(error)")
    }
  }

  /// The names in the directory, sorted, without the tag.
  package var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "CACHEDIR.TAG" }
        .sorted()
    }
  }
}
