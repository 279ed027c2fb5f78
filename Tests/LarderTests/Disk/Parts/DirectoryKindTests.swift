import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

struct `What a directory is to a cache` {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func kind(with names: [String]) throws -> DirectoryKind {
    for name in names { try Data().write(to: URL(filePath: "\(directory.path)/\(name)")) }
    return try DirectoryKind(ofDirectory: directory.path)
  }

  @Test func `one that holds nothing is empty`() throws {
    #expect(try kind(with: []) == .empty)
  }

  @Test(
    arguments: [
      ["900150983cd24fb0d6963f7d28e17f72"], ["x", "900150983cd24fb0d6963f7d28e17f72.json"],
      ["x", ".larder-12-3"],
    ])
  func `an entry or a write left behind makes it a cache`(names: [String]) throws {
    #expect(try kind(with: names) == .cache)
  }

  @Test(
    arguments: [
      ["x"], ["900150983cd24fb0d6963f7d28e17f7"],
      ["900150983CD24FB0D6963F7D28E17F72"], [String(repeating: "n", count: 200)],
    ])
  func `other things do not`(names: [String]) throws {
    #expect(try kind(with: names) == .foreign)
  }

  @Test func `the tag of another program does not`() throws {
    let text = "Signature: 8a477f597d28d172789f06886806bc55\n"
    try Data(text.utf8).write(to: URL(filePath: directory.path + "/CACHEDIR.TAG"))
    #expect(try kind(with: []) == .foreign)
  }

  @Test(arguments: [0, 1, 129])
  func `the tag that a power cut leaves of ours does`(byteCount: Int) throws {
    try Data(count: byteCount).write(to: URL(filePath: directory.path + "/CACHEDIR.TAG"))
    #expect(try kind(with: ["x"]) == .cache)
  }

  @Test func `the tag that we write does`() throws {
    try DiskCache(directory: directory.path).close()
    #expect(try kind(with: ["x"]) == .cache)
  }

  @Test func `a missing one and a file are errors of their own`() throws {
    let missing = #expect(throws: CacheError.self) {
      try DirectoryKind(ofDirectory: directory.path + "/none")
    }
    #expect(missing?.code == .directoryMissing)
    try Data().write(to: URL(filePath: directory.path + "/file"))
    let file = #expect(throws: CacheError.self) {
      try DirectoryKind(ofDirectory: directory.path + "/file")
    }
    #expect(file?.code == .notADirectory)
  }
}
