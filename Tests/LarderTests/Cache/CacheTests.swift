import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

struct `A cache with two tiers` {
  let directory: TemporaryDirectory
  let clock = ManualClock(Timestamp(seconds: 1_800_000_000))

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A coder that cannot encode "bad".
  private static let picky = Coder<String>(
    encode: { value in
      struct Failure: Error {}
      if value == "bad" { throw Failure() }
      return Array(value.utf8)
    }, decode: { String(decoding: $0, as: UTF8.self) })

  private func open(
    _ change: (inout CacheConfiguration) -> Void = { _ in }
  ) throws -> Cache<String> {
    var configuration = CacheConfiguration()
    configuration.disk.clock = clock.wallClock
    // An event may drop from memory what was stored just before.
    configuration.disk.coherence = .none
    change(&configuration)
    return try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
  }

  @Test func `a stored value is in memory and on disk`() throws {
    let cache = try open()
    #expect(try cache.store("value", forKey: "key") == .stored)
    #expect(try cache.tier(forKey: "key") == .memory)
    #expect(try cache.disk.value(forKey: "key") == Array("value".utf8))
    cache.memory.removeAll()
    #expect(try cache.tier(forKey: "key") == .disk)
    #expect(try cache.value(forKey: "key") == "value")
    #expect(try cache.tier(forKey: "key") == .memory)
    #expect(try cache.remove(forKey: "key"))
    #expect(try cache.tier(forKey: "key") == nil)
    #expect(try cache.value(forKey: "key") == nil)
  }

  @Test func `a removal tells of a value that was in memory alone, once`() async throws {
    let cache = try open()
    for isAsynchronous in [false, true] {
      _ = try await cache.value(forKey: "key", options: .memoryOnly) { "value" }
      #expect(try await cache.disk.value(forKey: "key") == nil)
      #expect(try await cache.contains("key"))
      let remove = { try cache.remove(forKey: "key") }
      #expect(try await isAsynchronous ? cache.remove(forKey: "key") : remove())
      #expect(try await !cache.remove(forKey: "key") && !remove())
    }
  }

  @Test func `a loaded value for memory that no bytes can be made of leaves no older one`()
    async throws
  {
    let cache = try Cache(directory: directory.path + "/cache", coder: Self.picky)
    try cache.storeNow("old", forKey: "key")
    let options: LoadOptions = [.memoryOnly, .reload]
    #expect(try await cache.value(forKey: "key", options: options) { "bad" } == "bad")
    #expect(try await cache.value(forKey: "key") == nil)
    #expect(cache.statistics.loads.unstored == 1)
    try await cache.close()
  }

  @Test func `the key of a value that has expired is known as long as that is in memory`() throws {
    let cache = try open()
    let subject = cache.disk.subject("first")
    let expiry = clock.now.adding(seconds: 10)
    cache.keep("old", subject, byteCount: 1, until: expiry, isAlone: true) { true }
    clock.advance(by: .seconds(20))
    #expect(cache.disk.engine.now >= expiry)
    // So many that what has left memory is forgotten in each part of the keys.
    for number in 0..<20_000 {
      let subject = cache.disk.subject(CacheKey("\(number)"))
      cache.keep("new", subject, byteCount: 1, until: .never, isAlone: true) { true }
    }
    // A clock that is set back makes it valid again.
    clock.advance(by: .seconds(-20))
    #expect(cache.memory.value(forKey: subject.key) == "old")
    #expect(cache.keptKeys.key(of: subject.name) == subject.key)
  }

  @Test func `a removal returns a value that was in memory alone, once`() async throws {
    let cache = try open()
    for isAsynchronous in [false, true] {
      _ = try await cache.value(forKey: "key", options: .memoryOnly) { "value" }
      let remove = { try cache.removeValue(forKey: "key") }
      let removed = try await isAsynchronous ? cache.removeValue(forKey: "key") : remove()
      #expect(removed == "value")
      #expect(try await cache.removeValue(forKey: "key") == nil)
      #expect(try remove() == nil)
    }
  }

  @Test func `a hit in memory reaches no file until the recency is due on disk`() throws {
    let cache = try open { $0.disk.extending = .lifetime }
    try cache.store("value", forKey: "key", expiration: .seconds(86_400))
    for _ in 0..<10 { #expect(try cache.value(forKey: "key") == "value") }
    #expect(cache.statistics.disk.hits == 0)
    clock.advance(by: .seconds(61))
    #expect(try cache.value(forKey: "key") == "value")
    #expect(cache.statistics.disk.hits == 1)
    try cache.flush()
    #expect(
      try cache.disk.entry(forKey: "key")?.expiry == clock.now.adding(seconds: 86_400))
  }

  @Test func `a value that is used each second expires when its lifetime is over`() throws {
    let cache = try open()
    try cache.store("value", forKey: "key", expiration: .seconds(60))
    for _ in 0..<60 {
      #expect(try cache.value(forKey: "key") == "value")
      clock.advance(by: .seconds(1))
    }
    #expect(try cache.value(forKey: "key") == nil)
    #expect(cache.statistics.disk.hits == 0)
  }

  @Test func `a lifetime counts from the store, however often the value is read`() throws {
    let cache = try open()
    try cache.store("value", forKey: "key", expiration: .minutes(10))
    for _ in 1..<10 {
      clock.advance(by: .seconds(60))
      #expect(try cache.value(forKey: "key") == "value")
    }
    clock.advance(by: .seconds(60))
    #expect(try cache.value(forKey: "key") == nil)
  }

  @Test func `a call that extends keeps the value alive, although memory holds it`() throws {
    let cache = try open()
    try cache.store("value", forKey: "key", expiration: .seconds(30))
    for _ in 0..<60 {
      #expect(try cache.value(forKey: "key", options: .extending(.lifetime)) == "value")
      clock.advance(by: .seconds(1))
    }
  }

  @Test(arguments: [DiskCache.KeyRecording.always, .never])
  func `what is stamped by hand leaves the memory tier`(recording: DiskCache.KeyRecording) throws {
    let cache = try open {
      $0.disk.recordKeys = recording
      // An edit expires the file, and a sweep could remove it before the stamp.
      $0.disk.sizeLimit = nil
    }
    try cache.store("old", forKey: "key")
    let path = cache.disk.path(forKey: "key")
    try Data("new".utf8).write(to: URL(fileURLWithPath: path), options: [])
    let name = try #require(path.split(separator: "/").last.map(String.init))
    guard case .stamped = try cache.disk.stamp(name, expiration: .days(1)) else {
      Issue.record("not stamped: \(name)")
      return
    }
    #expect(try cache.value(forKey: "key") == "new")
  }

  @Test func `what is changed through the disk tier leaves the memory tier`() throws {
    let cache = try open()
    try cache.store("old", forKey: "key")
    try cache.disk.store(Array("new".utf8), forKey: "key")
    #expect(try cache.value(forKey: "key") == "new")
    try cache.disk.remove(forKey: "key")
    #expect(try cache.value(forKey: "key") == nil)
    try cache.store("old", forKey: "key")
    try cache.disk.removeAll()
    #expect(try cache.value(forKey: "key") == nil)
  }

  @Test func `two caches on one directory agree`() throws {
    let (one, two) = (try open(), try open())
    try one.store("a", forKey: "key")
    #expect(try two.value(forKey: "key") == "a")
    try one.store("b", forKey: "key")
    #expect(try two.value(forKey: "key") == "b")
    try two.remove(forKey: "key")
    #expect(try one.value(forKey: "key") == nil)
  }

  @Test func `a file with another extension is another entry to loads and memory`() async throws {
    func open(_ fileExtension: String) throws -> Cache<String> {
      try self.open { $0.disk.fileExtension = fileExtension }
    }
    let (pages, headers) = (try open("html"), try open("json"))
    _ = try await pages.value(forKey: "key") {
      _ = try await headers.value(forKey: "key") { "headers" }
      return "page"
    }
    #expect(try await pages.tier(forKey: "key") == .memory)
    #expect(try await headers.tier(forKey: "key") == .memory)
    try await headers.remove(forKey: "key")
    #expect(try await pages.tier(forKey: "key") == .memory)
    #expect(try await pages.disk.value(forKey: "key") == Array("page".utf8))
  }

  @Test func `bytes that do not decode are a miss with a reason`() throws {
    let cache = try open()
    try cache.disk.store([0xff, 0xfe], forKey: "key")
    #expect(try cache.value(forKey: "key") == nil)
    #expect(cache.statistics.disk.misses == [.undecodable: 1])
  }

  @Test func `a removal counts neither a hit nor a miss, whether the bytes decode or not`() throws {
    let cache = try open()
    try cache.store("value", forKey: "other")
    #expect(try cache.value(forKey: "other") == "value")
    try cache.disk.store([0xff, 0xfe], forKey: "key")
    #expect(try cache.removeValue(forKey: "key") == nil)
    #expect(cache.statistics.hitRate == 1 && cache.statistics.hitCount == 1)
    #expect(try cache.removeValue(forKey: "other") == "value")
    #expect(cache.statistics.hitRate == 1 && cache.statistics.hitCount == 1)
  }

  @Test func `a value that cannot be encoded removes the older one`() throws {
    let cache = try Cache(directory: directory.path + "/encoded", coder: Self.picky)
    try cache.store("good", forKey: "key")
    let error = #expect(throws: CacheError.self) { try cache.store("bad", forKey: "key") }
    #expect(error?.code == .callerFailed)
    #expect(error?.oldValueRemains == false)
    #expect(try cache.value(forKey: "key") == nil)
  }

  // Another process that removes it then finds no file, and the kernel tells of nothing.
  @Test(arguments: [DiskCache.Coherence.events, .strict, .none])
  func `a value that a limit evicts leaves memory too if neighbours are followed`(
    _ coherence: DiskCache.Coherence
  ) async throws {
    let scene = try DiskScene()
    let cache = try scene.open(.string) {
      ($0.disk.countLimit, $0.disk.coherence) = (2, coherence)
    }
    for key in ["a", "b", "c"] { try cache.storeNow("value", forKey: key) }
    try await eventually("the eviction") { () async in
      cache.disk.statistics.removals[.evicted] == 2
    }
    for key in ["a", "b"] {
      #expect(cache.memory.contains(CacheKey(key)) == (coherence == .none))
    }
  }

  @Test func `a rejected store removes the older value from both tiers`() throws {
    let cache = try open { $0.disk.sizeLimit = 10 }
    try cache.store("small", forKey: "key")
    #expect(try cache.store("much too large", forKey: "key") == .rejected(.tooLarge))
    #expect(try cache.tier(forKey: "key") == nil)
  }

  @Test func `composed and decomposed letters are two keys in both tiers`() throws {
    let cache = try open()
    try cache.store("composed", forKey: "\u{e9}")
    try cache.store("decomposed", forKey: "e\u{301}")
    #expect(try cache.value(forKey: "\u{e9}") == "composed")
    cache.memory.removeAll()
    #expect(try cache.value(forKey: "\u{e9}") == "composed")
    #expect(try cache.value(forKey: "e\u{301}") == "decomposed")
  }

  @Test func `a read that ends after the cache was closed leaves nothing in memory`() throws {
    let faults = FaultInjector()
    let cache = try open { $0.disk.faults = faults }
    try cache.store("value", forKey: "key")
    cache.memory.removeAll()
    faults.plan(
      .before {
        do {
          try cache.close()
        } catch {
          Issue.record(error)
        }
      }, for: .read)
    #expect(try cache.value(forKey: "key") == "value")
    #expect(cache.memory.count == 0)
  }

  @Test func `a closed cache says so`() throws {
    let cache = try open()
    try cache.close()
    try cache.close()
    #expect(throws: CacheError.self) { try cache.value(forKey: "key") }
  }
}
