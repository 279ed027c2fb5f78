import Foundation
import LarderTestSupport

/// A directory for one test, removed at its end.
final class Scene: Sendable {
  let root: URL
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    root = URL(filePath: directory.path)
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
