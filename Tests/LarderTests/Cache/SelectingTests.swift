import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Listing entries, and removing chosen ones.
@Suite(.watched)
struct `Choosing entries` {
  let scene: DiskScene
  let cache: Cache<String>

  init() throws {
    scene = try DiskScene()
    cache = try scene.open(.string) { $0.disk.sizeLimit = DiskCache.Configuration().sizeLimit }
  }
}

extension `Choosing entries` {
  private func fill() throws {
    for (key, value) in [("a", "1"), ("b", "22"), ("c", "333")] {
      try cache.store(value, forKey: key, expiration: .hours(1))
      scene.clock.advance(by: .seconds(1))
    }
  }

  @Test func `lists keys and entries by use, also by uses that the disk does not know`() throws {
    #expect(try cache.disk.count() == 0 && cache.disk.keys() == [])
    try fill()
    #expect(try cache.disk.keys() == ["a", "b", "c"])
    _ = try cache.disk.value(forKey: "a")
    #expect(try cache.disk.keys() == ["b", "c", "a"])
    #expect(try cache.disk.entries(byUse: true).map(\.byteCount) == [2, 3, 1])
    #expect(try cache.disk.entries().map(\.name) == scene.names)
    #expect(try cache.disk.count() == 3 && cache.disk.totalSize() == 6)
  }

  @Test(arguments: [DiskCache.KeyRecording.always, .automatic, .never])
  func `tells how many keys could not be seen`(recording: DiskCache.KeyRecording) throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.recordKeys = recording }
    let urls = (0..<3).map {
      "https://example.org/products/\($0)/" + String(repeating: "x", count: 99)
    }
    for url in urls { try cache.store([1], forKey: url) }
    let known = try cache.keys().count
    let removal = try cache.removeAll { $0.key?.text?.contains("products") ?? false }
    #expect(removal.removed == known && removal.unknownKeys == 3 - known)
    if recording != .automatic { #expect(known == (recording == .always ? 3 : 0)) }
  }

  @Test func `answers every call in its asynchronous spelling as well`() async throws {
    #expect(try await cache.disk.count() == 0)
    try await cache.store("1", forKey: "a")
    try await cache.store("2", forKey: CacheKey("a", variant: "x"))
    try await cache.store("3", forKey: "c")
    #expect(try await cache.disk.count() == 3)
    #expect(try await cache.disk.totalSize() == 3)
    #expect(try await cache.disk.keys().count == 3)
    #expect(try await cache.disk.entries().count == 3)
    #expect(try await cache.disk.entries().map(\.name) == scene.names)
    #expect(try await cache.contains("a"))
    #expect(try await cache.disk.contains("a"))
    #expect(try await cache.removeValue(forKey: "c") == "3")
    #expect(try await cache.disk.removeValue(forKey: "c") == nil)
    #expect(try await cache.removeVariants(of: "a").removed == 2)
    #expect(try await cache.removeAll { _ in true }.removed == 0)
    #expect(try await cache.disk.count() == 0)
  }

  @Test func `removes what a closure chooses from both tiers, and nothing else`() throws {
    try fill()
    let removal = try cache.removeAll { $0.byteCount > 1 }
    #expect(removal.removed == 2 && removal.byteCount == 5 && removal.failed == 0)
    #expect(try cache.disk.keys() == ["a"] && cache.memory.keys == ["a"])
    #expect(try cache.value(forKey: "c") == nil)
    #expect(cache.disk.statistics.removals[.explicit] == 2)
    #expect(try cache.disk.count() == 1 && cache.disk.totalSize() == 1)
  }

  @Test func `leaves what was stored anew after the closure was asked`() throws {
    try fill()
    let cache = cache
    let removal = try cache.removeAll { entry in
      if entry.key == "a" {
        do { try cache.store("newer", forKey: "a") } catch { Issue.record(error) }
      }
      return entry.key == "a"
    }
    #expect(removal.removed == 0)
    #expect(try cache.value(forKey: "a") == "newer")
  }

  @Test func `counts what it cannot remove, and goes on`() throws {
    try fill()
    scene.faults.plan(.errno(.ioError), for: .unlinkat, at: 1)
    let removal = try cache.removeAll { _ in true }
    #expect(removal.removed == 2 && removal.failed == 1)
  }

  @Test func `removes all variants of a key and no other that begins like it`() throws {
    for key in [
      CacheKey("page"), CacheKey("page", variant: "de"), CacheKey(joining: ["page", "en", "gz"]),
      CacheKey("page2"), CacheKey(joining: ["pag", "e"]),
    ] {
      try cache.store("v", forKey: key)
    }
    #expect(try cache.removeVariants(of: "page").removed == 3)
    #expect(try Set(cache.disk.keys()) == ["page2", CacheKey(joining: ["pag", "e"])])
  }

  @Test func `removes a variant also if it is used while it is being looked at`() throws {
    let variant = CacheKey("page", variant: "de")
    try cache.store("v", forKey: variant)
    scene.faults.plan(
      .before { [scene] in
        do {
          let (name, stamp) = (DiskScene.name(of: variant.bytes), Timestamp(seconds: 1_000_000_000))
          try scene.touch(name.fileName, access: stamp, modification: nil)
        } catch {
          Issue.record(error)
        }
      }, for: .fgetxattr)
    #expect(try cache.removeVariants(of: "page").removed == 1)
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.value(forKey: variant) == nil)
    #expect(try scene.names.isEmpty)
  }

  @Test func `removes a key whose file has lost its attribute`() throws {
    try scene.plant(Array("v".utf8), named: scene.name("page").text)
    #expect(try cache.value(forKey: "page") == "v")
    #expect(try cache.removeVariants(of: "page").removed == 1)
    #expect(try cache.value(forKey: "page") == nil)
  }

  @Test func `removes a key with its variants from memory, also when its file has gone before`()
    throws
  {
    try cache.close()
    let cache = try scene.open(.string) {
      $0.disk.countLimit = 1
      $0.disk.coherence = .none
    }
    try cache.store("1", forKey: "page")
    try cache.store("2", forKey: "b")
    _ = try cache.disk.count()
    try cache.flush()
    let isKept = cache.memory.contains("page")
    #expect(try isKept && scene.names.count == 1)
    #expect(try cache.removeVariants(of: "page").removed == 0)
    #expect(try cache.value(forKey: "page") == nil)
  }

  @Test func `removes variants from memory, also when their files have gone before`() throws {
    try cache.close()
    let cache = try scene.open(.string) { $0.disk.countLimit = 1 }
    let variant = CacheKey("page", variant: "de")
    try cache.store("1", forKey: variant)
    try cache.store("2", forKey: "b")
    _ = try cache.disk.count()
    try cache.flush()
    let isKept = cache.memory.contains(variant)
    #expect(try isKept && scene.names.count == 1)
    #expect(try cache.removeVariants(of: "page").removed == 0)
    #expect(try cache.value(forKey: variant) == nil)
    #expect(try cache.value(forKey: "b") == "2")
  }

  @Test func `removes a key from the memory of a cache with another extension`() throws {
    try cache.close()
    let cache = try scene.open(.string) {
      $0.disk.countLimit = 1
      $0.disk.fileExtension = "e1"
    }
    let other = try scene.open { $0.countLimit = 1 }
    try cache.store("1", forKey: "page")
    try other.store([2], forKey: "page")
    _ = try other.count()
    try other.flush()
    let isKept = cache.memory.contains("page")
    #expect(try isKept && scene.names.count == 1)
    #expect(try other.removeVariants(of: "page").removed == 1)
    #expect(try cache.value(forKey: "page") == nil)
  }

  @Test func `counts what it chose and may not remove any more as failed`() throws {
    try cache.store("1", forKey: "a")
    let removal = try cache.disk.removeAll { [cache] _ in
      #expect(throws: Never.self) { try cache.close() }
      return true
    }
    #expect(removal.removed == 0 && removal.failed == 1)
  }

  @Test(arguments: [nil, 1 << 20])
  func `returns the very value that it removes`(writeBehindLimit: Int?) throws {
    try cache.close()
    let disk = try scene.open { $0.writeBehindLimit = writeBehindLimit }
    try disk.store([1, 2], forKey: "k", expiration: .seconds(10))
    #expect(try disk.removeValue(forKey: "k") == [1, 2])
    #expect(try disk.removeValue(forKey: "k") == nil)
    try disk.store([1, 2], forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(10))
    #expect(try disk.removeValue(forKey: "k") == nil)
    try disk.flush()
    #expect(try scene.names == [] && disk.statistics.hits == 0)
  }

  @Test func `returns nothing of a damaged file and removes it`() throws {
    // The end of a scan removes what has expired, as the file has while it is being damaged.
    _ = try cache.disk.count()
    try cache.disk.store([1, 2], forKey: "k")
    try scene.damage("k", to: [3, 4])
    #expect(try cache.disk.removeValue(forKey: "k") == nil)
    #expect(try scene.names == [])
  }

  @Test func `tells the share of hits`() throws {
    #expect(cache.statistics.hitRate == nil)
    #expect(try cache.value(forKey: "a") == nil)
    #expect(cache.statistics.hitRate == 0)
    try fill()
    for _ in 0..<3 { _ = try cache.value(forKey: "a") }
    #expect(cache.statistics.hitRate == 0.75)
  }
}

/// Durations, and their printed text.
struct `Words for values` {
  @Test func `spans are seconds, and a duration is rounded up`() {
    let spans: [(Expiration, Int)] = [
      (.minutes(2), 120), (.hours(2), 7200), (.minutes(-1), -60),
      (.hours(.max), .max), (.hours(.min), .min), (.after(.milliseconds(1500)), 2),
      (.after(.seconds(3600) / 2), 1800), (.after(.zero), 0), (.after(.nanoseconds(1)), 1),
    ]
    for (span, seconds) in spans { #expect(span == .seconds(seconds)) }
  }

  @Test func `a point in time, an outcome and an error read well`() {
    #expect("\(Timestamp(seconds: 0, nanoseconds: 5))" == "1970-01-01T00:00:00.000000005Z")
    #expect("\(Timestamp.never)" == "2242-03-16T12:56:32Z")
    #expect(Timestamp.now > Timestamp(seconds: 1_700_000_000) && Timestamp.now < .never)
    #expect("\(StoreOutcome.stored)" == "stored" && "\(StoreOutcome.pending)" == "pending")
    #expect("\(StoreOutcome.rejected(.tooLarge))" == "rejected: too large")
    for reason in StoreOutcome.Reason.allCases {
      #expect("\(StoreOutcome.rejected(reason))".hasPrefix("rejected: "))
    }
  }

  @Test(arguments: ["~", "~/cache", "~someone/cache", "/tmp/~/cache"])
  func `a tilde is an error with the cure and makes no folder`(path: String) {
    #expect {
      try DiskCache(directory: path)
    } throws: {
      let error = $0 as? CacheError
      return error?.code == .invalidArgument && "\($0)".contains("Cache(named:)")
    }
  }
}
