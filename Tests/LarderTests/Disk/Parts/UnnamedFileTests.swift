import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

struct `A store whose unnamed file cannot be linked` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  @Test func `goes through a temporary with a name`() throws {
    let cache = try scene.open()
    scene.faults.plan(.errno(.noSuchFile), for: .linkat, onwards: true)
    #expect(try cache.store([65], forKey: "a") == .stored)
    #expect(try cache.value(forKey: "a") == [65])
    #expect(try scene.names == [scene.name("a").text])
    try cache.close()
  }

  @Test func `leaves no lock on the entry, which a fork would keep`() throws {
    try scene.makeDirectory()
    let (name, handle) = (scene.name("a"), try DirectoryHandle.open(path: scene.path, faults: nil))
    var file = try StagedFile.named(in: handle, permissions: 0o600)
    #expect(try file.publish(as: name, isExclusive: false))
    #expect(try handle.openForReading(name).tryLock(.exclusive))
    _ = consume file
  }

  @Test func `fails if every lock is refused, and leaves nothing`() throws {
    let cache = try scene.open { $0.durability = .durable }
    scene.faults.plan(.errno(.wouldBlock), for: .flock, onwards: true)
    #expect(throws: CacheError.self) { try cache.store([65], forKey: "a") }
    #expect(try scene.names.isEmpty)
  }

  @Test func `makes the directory again that was removed meanwhile`() throws {
    let cache = try scene.open()
    let (path, folder) = (scene.path, scene.directory.path)
    scene.faults.plan(
      .before {
        do {
          try Shell.run("rm -r cache", in: folder)
        } catch {
          Issue.record(error)
        }
      }, for: .linkat)
    #expect(try cache.store([65], forKey: "a") == .stored)
    #expect(try cache.value(forKey: "a") == [65])
    #expect(cache.path(forKey: "a").hasPrefix(path))
    #expect(try scene.names == [scene.name("a").text])
    try cache.close()
  }
}
