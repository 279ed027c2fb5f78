import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Reads on a file system such as sshfs, on which an open file gives the content of whatever file
/// has its path.
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

  /// Returns a cache that has stored a value under the key "a". Its file has no attribute, because
  /// the file system has none.
  private static func stored(_ content: [UInt8]) throws -> (DiskScene, DiskCache) {
    let scene = try DiskScene()
    let cache = try open(scene)
    scene.faults.plan(.errno(.notSupported), for: .fsetxattr)
    try cache.store(content, forKey: "a")
    return (scene, cache)
  }

  @Test func `what this process stored is found, with an attribute and without`() throws {
    let (scene, cache) = try Self.stored([1, 2, 3])
    try cache.store([4, 5], forKey: "b")
    #expect(try cache.value(forKey: "a") == [1, 2, 3])
    #expect(try cache.value(forKey: "b") == [4, 5])
    #expect(try cache.read(forKey: "b")?.bytes == [4, 5])
    #expect(try scene.attribute(scene.name("a")) == nil)
  }

  @Test func `what others stored is found where an attribute proves it`() throws {
    let (scene, cache) = try Self.stored([1])
    try cache.store([2], forKey: "b")
    try cache.close()
    let next = try Self.open(scene)
    #expect(try next.value(forKey: "a") == nil)
    #expect(next.statistics.misses == [.unproven: 1])
    #expect(try next.value(forKey: "b") == [2])
  }

  @Test(arguments: [[1, 2], [1, 2, 3, 4], [1, 2, 4]] as [[UInt8]])
  func `content other than what was stored is a miss, and the file stays`(
    content: [UInt8]
  ) throws {
    let (scene, cache) = try Self.stored([1, 2, 3])
    try scene.damage("a", to: content)
    #expect(try cache.value(forKey: "a") == nil)
    #expect(cache.statistics.misses == [.damaged: 1])
    try cache.flush()
    #expect(try scene.names == [scene.name("a").text])
  }

  @Test func `an expiry later than the one that was stored is another file's`() throws {
    let (scene, cache) = try Self.stored([1])
    let status = try scene.status(scene.name("a"))
    try scene.touch(
      scene.name("a"), access: nil, modification: status.modification.adding(seconds: 1))
    #expect(try cache.value(forKey: "a") == nil)
    try scene.touch(
      scene.name("a"), access: nil, modification: status.modification.adding(seconds: -1))
    #expect(try cache.value(forKey: "a") == [1])
  }

  @Test func `a lent file is a copy of what was checked`() throws {
    let (scene, cache) = try Self.stored([1, 2, 3])
    let bytes = try cache.withFile(forKey: "a") { file in
      try scene.damage("a", to: [9])
      var bytes = [UInt8](repeating: 0, count: 8)
      #expect(try file.read(into: &bytes) == 3)
      #expect(try file.read(into: &bytes) == 0)
      return bytes
    }
    #expect(bytes == [1, 2, 3, 0, 0, 0, 0, 0])
  }

  @Test func `a store only where nothing is replaces what no read would find`() throws {
    let (scene, cache) = try Self.stored([1])
    #expect(try cache.storeIfAbsent([2], forKey: "a") == .rejected(.alreadyPresent))
    try cache.close()
    let next = try Self.open(scene)
    #expect(try next.storeIfAbsent([2], forKey: "a") == .stored)
    #expect(try next.value(forKey: "a") == [2])
  }

  @Test func `a file that has another inode under another name is removed all the same`() throws {
    let (scene, cache) = try Self.stored([1])
    try cache.close()
    let next = try Self.open(scene)
    // The look at the file that was moved aside meets a copy of it.
    let isDone = Mutex(false)
    scene.faults.plan(
      .before { isDone.withLock { $0 = $0 || Self.replacesTemporary(in: scene) } }, for: .fstatat,
      onwards: true)
    let before = scene.faults.count(of: .renameat)
    #expect(try next.storeIfAbsent([2], forKey: "a") == .stored)
    // Aside, and the new file to its name.
    #expect(scene.faults.count(of: .renameat) <= before + 2)
    scene.faults.reset()
    #expect(try next.value(forKey: "a") == [2])
  }

  /// Replaces the file that was moved aside by a copy with the same stamps and another inode.
  private static func replacesTemporary(in scene: DiskScene) -> Bool {
    do {
      for name in try scene.names where name.hasPrefix(".larder-") {
        let path = "\(scene.path)/\(name)"
        let status = try scene.status(FileName(text: name))
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        guard content == Data([1]) else { continue }
        try content.write(to: URL(fileURLWithPath: path), options: .atomic)
        try scene.touch(
          FileName(text: name), access: status.lastAccess, modification: status.modification)
        return true
      }
    } catch {
      Issue.record(error)
    }
    return false
  }

  @Test func `a fixture is served as it lies there`() throws {
    let (scene, cache) = try Self.stored([1])
    try cache.close()
    let fixture = try Self.open(scene) { $0.mode = .fixture }
    #expect(try fixture.value(forKey: "a") == [1])
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
