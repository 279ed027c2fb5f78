import Foundation
import Testing

@testable import LarderSystem

/// Directories that are walked or removed although something in them stands in the way.
struct `A directory of files` {
  private let manager = FileManager.default

  private func write(_ names: [String], in directory: String) throws {
    for name in names { try Data([1]).write(to: URL(fileURLWithPath: "\(directory)/\(name)")) }
  }

  @Test func `is listed without a file that vanishes meanwhile`() throws {
    let directory = try TemporaryDirectory()
    try write(["a", "b", "c"], in: directory.path)
    let faults = FaultInjector()
    faults.plan(.errno(.noSuchFile), for: .fstatat)
    let files = FileTree.readableFiles(
      under: directory.path, byteCounts: 0...9, limit: 9, faults: faults)
    #expect(files.count == 2)
  }

  @Test func `is emptied as far as that is possible`() throws {
    let scratch = try ScratchDirectory("larder-test")
    let obstacles = ["directory", String(repeating: "n", count: 100)]
    for name in obstacles {
      try manager.createDirectory(
        atPath: "\(scratch.path)/\(name)", withIntermediateDirectories: false)
    }
    try write((0..<20).map { "file \($0)" }, in: scratch.path)
    scratch.remove()
    #expect(try manager.contentsOfDirectory(atPath: scratch.path).sorted() == obstacles)
    try manager.removeItem(atPath: scratch.path)
  }
}
