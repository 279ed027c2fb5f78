import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem
@testable import LarderTool

struct `Stamping, names and previews` {
  let directory: TemporaryDirectory
  let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
  private let name = "900150983cd24fb0d6963f7d28e17f72"

  init() throws { directory = try TemporaryDirectory() }

  private var path: String { directory.path + "/cache" }

  private func open() throws -> DiskCache {
    var configuration = DiskCache.Configuration()
    configuration.clock = clock.wallClock
    return try DiskCache(directory: path, configuration: configuration)
  }

  private func edit(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
  }

  @Test func `an edited file is served with its new content, key and extended data`() throws {
    let cache = try open()
    try cache.store([1], forKey: "abc", expiration: .seconds(60), extendedData: [9])
    // Waits for the first scan, which sweeps what has expired, as an edited file has.
    _ = try cache.count()
    let file = try #require(FileHandle(forUpdatingAtPath: "\(path)/\(name)"))
    try file.write(contentsOf: [5, 6])
    try file.close()
    clock.advance(by: .seconds(30))
    #expect(try cache.stamp(name) == .stamped(expiry: clock.now.adding(seconds: 60)))
    let value = try #require(try cache.read(forKey: "abc"))
    #expect(value.value == [5, 6] && value.extendedData == [9])
    #expect(try cache.entry(forKey: "abc")?.key == "abc")
    #expect(try cache.verify().damaged.isEmpty)
  }

  @Test func `a file that others use meanwhile is hashed once`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .never)
    let (name, uses) = (scene.name("k"), Counter())
    let use: @Sendable () -> Void = {
      if uses.value == 40 { return }
      uses.add()
      do {
        let time = Timestamp(seconds: Int64(uses.value))
        try scene.touch(name, access: time, modification: nil)
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(use), for: .fstat, onwards: true)
    #expect(try cache.stamp(name.text) == .stamped(expiry: nil))
    #expect(0 < uses.value && uses.value < 20)
    scene.faults.reset()
  }

  @Test func `data that are set while a file is hashed are hashed`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .never)
    let name = scene.name("k")
    let change: @Sendable () -> Void = {
      do {
        let file = try scene.directoryHandle().openForReading(name)
        try file.setAttribute(.data, to: [7])
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(change), for: .read)
    #expect(try cache.stamp(name.text) == .stamped(expiry: nil))
    #expect(try cache.read(forKey: "k")?.extendedData == [7])
    #expect(try cache.verify().damaged.isEmpty)
  }

  @Test func `a file made by hand becomes an entry, and counts`() throws {
    let cache = try open()
    #expect(try cache.count() == 0)
    try edit(name, "")
    #expect(try cache.stamp(name, expiration: .never) == .stamped(expiry: nil))
    #expect(try cache.value(forKey: "abc") == [])
    #expect(try cache.count() == 1)
  }

  @Test func `only names of entries are stamped, and only what is there`() throws {
    let cache = try open()
    for name in ["CACHEDIR.TAG", "", "../x", String(name.dropLast()), name.uppercased()] {
      let error = #expect(throws: CacheError.self) { try cache.stamp(name) }
      #expect(error?.code == .invalidArgument)
    }
    #expect(try cache.stamp(name) == .absent)
    try FileManager.default.createDirectory(
      atPath: "\(path)/\(name)", withIntermediateDirectories: false)
    #expect(try cache.stamp(name) == .absent)
  }

  @Test func `a key has the bare name alone, or all that have an extension`() throws {
    let cache = try open()
    let abc = CacheKey("abc")
    #expect(try cache.names(forKeys: [abc, abc]) == [[], []])
    for suffix in ["txt", "json"] { try edit("\(name).\(suffix)", "x") }
    let found = try cache.names(forKeys: [CacheKey("k"), abc])
    #expect(found.map { $0.map(\.description) } == [[], ["\(name).json", "\(name).txt"]])
    try edit(name, "x")
    #expect(try cache.names(forKeys: [abc])[0].map(\.description) == [name])
    #expect(try cache.remove(EntryName(abc)) == 1)
    #expect(try cache.remove(EntryName(abc)) == nil)
  }

  @Test(
    arguments: [
      (.living, 0), (.size(2), 1), (.count(0), 3), (.age(.seconds(15)), 1), (.nothing, 3),
    ] as [(TrimGoal, Int)])
  func `a preview tells what the trim does, and changes nothing`(
    goal: TrimGoal, removed: Int
  ) throws {
    let cache = try open()
    for key in ["a", "b", "c"] {
      try cache.store([1], forKey: key)
      clock.advance(by: .seconds(10))
    }
    let preview = try cache.preview(goal).removal
    #expect(preview.removed == removed + (goal == .age(.seconds(15)) ? 1 : 0))
    #expect(try cache.count() == 3)
    #expect(try cache.trim(to: goal) == preview)
  }

  @Test func `the first trim reports the expired entries that its scan met`() throws {
    let cache = try open()
    for key in ["a", "b"] { try cache.store([1], forKey: key, expiration: .seconds(1)) }
    try cache.close()
    clock.advance(by: .seconds(2))
    let again = try open()
    #expect(try again.trim(toCount: 5).removed == 2)
  }
}
