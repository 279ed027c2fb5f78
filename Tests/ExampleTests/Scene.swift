import Foundation

/// A directory of a test's own, removed at the end.
final class Scene: Sendable {
  let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory
      .appending(path: "larder-example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: root)
    } catch {
      print("left behind: \(root.path): \(error)")
    }
  }

  func write(_ content: some Sequence<UInt8>, to name: String) throws {
    try Data(content).write(to: root.appending(path: name))
  }

  func read(_ name: String) throws -> Data {
    try Data(contentsOf: root.appending(path: name))
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(at: root.appending(path: name))
  }
}
