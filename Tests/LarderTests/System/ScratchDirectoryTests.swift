import Foundation
import Testing

@testable import LarderSystem

/// A directory that is removed although something in it stands in the way.
struct `A scratch directory` {
  private let manager = FileManager.default

  private func write(_ names: [String], in directory: String) throws {
    for name in names { try Data([1]).write(to: URL(fileURLWithPath: "\(directory)/\(name)")) }
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
