import Foundation
import Testing

@testable import Larder

/// What a read is worth where an open file is answered for by whatever has its path, as on sshfs.
@Suite("On a file system that knows files by their paths")
struct PathBoundTests {
  private static let sshfs = FileSystemKind(
    name: "fuse.sshfs", isNetwork: true, isPathBound: true)

  private static func open(
    _ scene: DiskScene, _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    try scene.open {
      $0.fileSystem = sshfs
      change(&$0)
    }
  }

  /// A cache with a file of someone's under the key "a", as it is where there are no attributes.
  private static func planted(_ content: [UInt8]) throws -> (DiskScene, DiskCache) {
    let scene = try DiskScene()
    let cache = try open(scene)
    try scene.plant(content, named: scene.name("a").text)
    return (scene, cache)
  }

  /// Puts another file in the place of the one of "a", in one step.
  private static func replace(_ scene: DiskScene, _ content: [UInt8]) {
    do {
      try scene.plant(content, named: "next")
      try DirectoryHandle.open(path: scene.path, faults: nil)
        .rename(FileName(text: "next"), to: scene.name("a"))
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test func `values are found, with an attribute and without`() throws {
    let (scene, cache) = try Self.planted([1, 2, 3])
    try cache.store([4, 5], forKey: "b")
    #expect(try cache.value(forKey: "a") == [1, 2, 3])
    #expect(try cache.value(forKey: "b") == [4, 5])
    #expect(try cache.read(forKey: "b")?.bytes == [4, 5])
    #expect(try cache.withFile(forKey: "b") { $0.byteCount } == 2)
    #expect(try scene.names.count == 2)
  }

  @Test func `a file that is replaced between the two looks is read as its successor`() throws {
    let (scene, cache) = try Self.planted([1, 2, 3])
    scene.faults.plan(.before { Self.replace(scene, [4]) }, for: .openat, at: 2)
    #expect(try cache.value(forKey: "a") == [4])
  }

  @Test func `a name that never stands still is a miss`() throws {
    let (scene, cache) = try Self.planted([1])
    for n in 2...4 {
      scene.faults.plan(
        .before { Self.replace(scene, [UInt8](repeating: 0, count: n)) }, for: .openat, at: n)
    }
    #expect(try cache.value(forKey: "a") == nil)
    #expect(cache.statistics.misses == [.unreadable: 1])
    #expect(try cache.value(forKey: "a") == [0, 0, 0, 0])
  }

  @Test(arguments: [[1, 2], [1, 2, 3, 4]] as [[UInt8]])
  func `content of another length than was told is a miss, and the file stays`(
    content: [UInt8]
  ) throws {
    let (scene, cache) = try Self.planted([1, 2, 3])
    scene.faults.plan(
      .before { #expect(throws: Never.self) { try scene.damage("a", to: content) } }, for: .read)
    #expect(try cache.value(forKey: "a") == nil)
    try cache.flush()
    #expect(try scene.names == [scene.name("a").text])
  }

  @Test func `a lent file gives as many bytes as the value has, or an error`() throws {
    let (scene, cache) = try Self.planted([1, 2, 3])
    try cache.withFile(forKey: "a") { file in
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scene.file("a")))
      try handle.truncate(atOffset: 5)
      var bytes = [UInt8](repeating: 9, count: 8)
      #expect(try file.read(into: &bytes) == 3)
      #expect(bytes == [1, 2, 3, 9, 9, 9, 9, 9])
      #expect(try file.read(into: &bytes) == 0)
    }
    try scene.plant([1, 2, 3], named: scene.name("a").text)
    let error = try cache.withFile(forKey: "a") { file in
      try scene.damage("a", to: [1])
      var bytes = [UInt8](repeating: 9, count: 8)
      return #expect(throws: CacheError.self) { try file.read(into: &bytes) }
    }
    #expect(error??.code == .io)
  }

  @Test func `a use writes no stamp, which could reach another file`() throws {
    let scene = try DiskScene()
    let cache = try Self.open(scene) { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "a", expiration: .seconds(100))
    let before = try scene.status(scene.name("a"))
    scene.clock.advance(by: .seconds(50))
    #expect(try cache.value(forKey: "a") == [1])
    let after = try scene.status(scene.name("a"))
    #expect(after.modification == before.modification)
    #expect(after.change == before.change)
  }
}
