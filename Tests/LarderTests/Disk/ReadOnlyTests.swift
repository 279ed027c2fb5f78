import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

struct `Reading only` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
    let cache = try scene.open()
    for number in 0..<5 { try cache.store([1, 2], forKey: "\(number)", extendedData: [7]) }
    try cache.store([], forKey: "empty")
    try cache.store([1], forKey: "short", expiration: .seconds(1))
    try cache.close()
    try scene.damage("0", to: [9, 9])
    try scene.plant([], named: scene.name("planted empty").text)
    try scene.plant([1], named: ".larder-1-1")
    scene.clock.advance(by: .seconds(600))
  }

  /// Returns the status of the directory and of all its files.
  private func everything() throws -> [String] {
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    let names = try FileManager.default.contentsOfDirectory(atPath: scene.path).sorted()
    return try (["."] + names).map { "\($0) \(try handle.status(of: FileName(text: $0)))" }
  }

  /// Calls all allowed functions.
  private func use(_ cache: DiskCache) throws {
    for key in ["0", "1", "2", "empty", "planted empty", "short", "absent"] {
      for _ in 0..<2 { _ = try cache.value(forKey: key, extending: .to(.days(99))) }
      _ = try cache.read(forKey: key)
      _ = try cache.withFile(forKey: key) { $0.byteCount }
      _ = try cache.contains(key)
      _ = try cache.entry(forKey: key)
    }
    _ = try (cache.count(), cache.totalSize(), cache.entries(), cache.survey(), cache.verify())
    try cache.flush()
  }

  @Test(arguments: [DiskCache.Mode.readOnly, .fixture])
  func `nothing in the directory changes`(mode: DiskCache.Mode) throws {
    let before = try everything()
    let cache = try scene.open {
      $0.mode = mode
      $0.sizeLimit = 1
      $0.recencyGranularity = .zero
    }
    scene.faults.reset()
    try use(cache)
    try cache.close()
    #expect(try everything() == before)
    let modifying: [SystemCall] = [
      .write, .futimens, .fsetxattr, .unlinkat, .renameat, .linkat, .mkdirat, .flock, .ftruncate,
      .ioctl, .fsync, .fdatasync,
    ]
    for call in modifying { #expect(scene.faults.count(of: call) == 0, "\(call)") }
  }

  @Test func `a read-only cache judges as any other`() throws {
    let cache = try scene.open { $0.mode = .readOnly }
    #expect(try cache.value(forKey: "0") == nil)
    #expect(try cache.value(forKey: "1") == [1, 2])
    #expect(try cache.value(forKey: "short") == nil)
    #expect(try cache.value(forKey: "planted empty") == nil)
    #expect(cache.statistics.misses == [.damaged: 2, .expired: 1])
  }

  @Test func `a fixture serves what is expired, unchecked or empty, but not to other keys`() throws
  {
    let cache = try scene.open { $0.mode = .fixture }
    #expect(try cache.value(forKey: "0") == [9, 9])
    #expect(try cache.value(forKey: "short") == [1])
    #expect(try cache.value(forKey: "planted empty") == [])
    #expect(try cache.contains("short") && cache.contains("planted empty"))
    let attribute = try #require(try scene.attribute(scene.name("1")))
    try scene.setAttribute(scene.name("1"), attribute.replacing("=1", with: "=2"))
    #expect(try cache.value(forKey: "1") == nil)
    #expect(cache.statistics.misses == [.otherKey: 1])
  }

  @Test func `every change is refused`() throws {
    let cache = try scene.open { $0.mode = .readOnly }
    let stores: [(DiskCache) throws -> Void] = [
      { try $0.store([9], forKey: "1") }, { try $0.storeIfAbsent([9], forKey: "1") },
      { try $0.store(forKey: "1") { _ in } },
    ]
    for (number, store) in stores.enumerated() {
      let error = #expect(throws: CacheError.self) { try store(cache) }
      #expect(error?.code == .readOnly && error?.oldValueRemains == true, "\(number)")
      #expect(try cache.value(forKey: "1") == [1, 2])
    }
    let attempts: [(DiskCache) throws -> Void] = [
      { try $0.remove(forKey: "1") }, { try $0.removeAll() },
      { _ = try $0.removeAllInBackground() }, { try $0.removeExpired() },
      { try $0.trim(toCost: 0) }, { try $0.trim(toCount: 0) }, { try $0.trim(toAge: .zero) },
      { _ = try $0.verify(repairs: true) },
    ]
    for (number, attempt) in attempts.enumerated() {
      let error = #expect(throws: CacheError.self) { try attempt(cache) }
      #expect(error?.code == .readOnly && error?.oldValueRemains == false, "\(number)")
    }
  }

  @Test func `what was missed during the first scan is found by another`() throws {
    let cache = try scene.open { $0.mode = .readOnly }
    let engine = cache.engine
    scene.faults.plan(
      .before { [scene] in
        do {
          // All names have been read, and no event announces this one.
          try scene.plant([1], named: scene.name("new").text)
        } catch {
          Issue.record(error)
        }
        var batch = EventBatch()
        batch.add(DirectoryEvent(watch: -1, kind: .overflow, name: nil), watch: 1)
        engine.act(on: batch)
      }, for: .fstatat, at: 3)
    _ = try cache.count()
    let name = DiskScene.name(of: Array("new".utf8))
    #expect(Happening().wait { engine.withState { $0.catalog.index.contains(name) } })
    scene.faults.reset()
  }

  @Test(arguments: [DiskCache.Mode.readOnly, .fixture])
  func `a missing directory is an error and is not made`(mode: DiskCache.Mode) throws {
    let other = try DiskScene()
    let error = #expect(throws: CacheError.self) { try other.open { $0.mode = mode } }
    #expect(error?.code == .directoryMissing)
    #expect(!FileManager.default.fileExists(atPath: other.path))
  }

  @Test func `it can look at what this process also writes`() throws {
    let writer = try scene.open()
    let reader = try scene.open { $0.mode = .readOnly }
    try writer.store([5], forKey: "new")
    #expect(try reader.value(forKey: "new") == [5])
    try writer.close()
  }
}
