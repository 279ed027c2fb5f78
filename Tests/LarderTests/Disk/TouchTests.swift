import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// Changes of an entry's expiry that leave its content.
@Suite(.watched)
struct `A touch` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `A touch` {
  private func expiry(of key: String, in cache: DiskCache) throws -> Int64? {
    try cache.entry(forKey: key, allowingExpired: true)?.expiry?.duration(since: scene.clock.now)
      .components.seconds
  }

  @Test(
    arguments: [
      (Expiration.seconds(90), Expiration.seconds(90), 90),
      (.days(1), .seconds(86_400), 86_400), (.never, .never, nil), (.seconds(1), .seconds(1), 1),
      (
        .date(Timestamp(seconds: 1_800_000_500)), .date(Timestamp(seconds: 1_800_000_500)), 400
      ),
    ] as [(Expiration, Expiration, Int64?)])
  func `sets the expiry and the lifetime, earlier and later, and nothing else`(
    expiration: Expiration, lifetime: Expiration, seconds: Int64?
  ) throws {
    let cache = try scene.open()
    try cache.store([1, 2, 3], forKey: "k", expiration: .seconds(600), extendedData: [9])
    let before = try scene.status(scene.name("k"))
    scene.clock.advance(by: .seconds(100))
    #expect(try cache.touch(forKey: "k", expiration: expiration))
    #expect(try expiry(of: "k", in: cache) == seconds)
    let entry = try #require(try cache.entry(forKey: "k"))
    #expect(entry.lifetime == lifetime && entry.lastAccess == scene.clock.now)
    #expect(try scene.status(scene.name("k")).identity == before.identity)
    let value = try #require(try cache.read(forKey: "k"))
    #expect(value.value == [1, 2, 3] && value.extendedData == [9] && !value.hasExpired)
    #expect(try scene.open().verify().damaged.isEmpty)
  }

  @Test func `writes no byte and makes no file`() throws {
    let cache = try scene.open()
    try cache.store([1, 2, 3], forKey: "k", expiration: .seconds(600))
    scene.faults.reset()
    #expect(try cache.touch(forKey: "k", expiration: .seconds(60)))
    for call in [SystemCall.write, .copyFileRange, .linkat, .renameat, .unlinkat, .ftruncate] {
      #expect(scene.faults.count(of: call) == 0, "\(call)")
    }
  }

  @Test func `finds nothing where no value is, and makes nothing`() throws {
    let cache = try scene.open()
    #expect(try !cache.touch(forKey: "k", expiration: .never))
    #expect(try scene.names == [])
  }

  @Test func `brings an expired value back only where that is allowed`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(20))
    #expect(try !cache.touch(forKey: "k", expiration: .seconds(60)))
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try cache.touch(forKey: "k", expiration: .seconds(60), allowingExpired: true))
    #expect(try cache.value(forKey: "k") == [1])
    #expect(try expiry(of: "k", in: cache) == 60)
  }

  @Test func `ends the validity of a value whose file stays`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .days(1))
    #expect(try cache.touch(forKey: "k", expiration: .expired))
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try cache.read(forKey: "k", allowingExpired: true)?.hasExpired == true)
  }

  @Test func `voids an extension that an earlier use was promised`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(6000))
    scene.clock.advance(by: .seconds(600))
    _ = try cache.value(forKey: "k")
    #expect(try cache.touch(forKey: "k", expiration: .seconds(60)))
    try cache.flush()
    #expect(try expiry(of: "k", in: cache) == 60)
    scene.clock.advance(by: .seconds(60))
    #expect(try cache.value(forKey: "k") == nil)
  }

  @Test func `reaches a value that waits to be written`() throws {
    let cache = try scene.open { $0.writeBehindLimit = 1 << 20 }
    try cache.store([1], forKey: "k", expiration: .seconds(600))
    #expect(try cache.touch(forKey: "k", expiration: .seconds(60)))
    try cache.flush()
    #expect(try expiry(of: "k", in: cache) == 60)
  }

  @Test func `leaves the file of another key alone`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(600))
    let attribute = try #require(try scene.attribute(scene.name("k")))
    try scene.setAttribute(scene.name("k"), String(attribute.dropLast(1)) + "j")
    #expect(try !cache.touch(forKey: "k", expiration: .never))
    #expect(try scene.status(scene.name("k")).modification < .never)
  }

  @Test func `gives a file without an attribute a new expiry and no attribute`() throws {
    let cache = try scene.open()
    try scene.plant([1], named: scene.name("k").text)
    #expect(try cache.touch(forKey: "k", expiration: .seconds(60)))
    #expect(try expiry(of: "k", in: cache) == 60)
    #expect(try scene.attribute(scene.name("k")) == nil)
    #expect(try cache.value(forKey: "k") == [1])
  }

  @Test func `is refused where nothing may be written`() throws {
    _ = try scene.open().store([1], forKey: "k")
    let reader = try scene.open { $0.mode = .readOnly }
    #expect { try reader.touch(forKey: "k", expiration: .never) } throws: {
      ($0 as? CacheError)?.code == .readOnly
    }
  }

  @Test func `that cannot stamp throws, and extends nothing`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(60))
    scene.faults.plan(.errno(.notPermitted), for: .futimens, onwards: true)
    #expect { try cache.touch(forKey: "k", expiration: .days(1)) } throws: {
      ($0 as? CacheError)?.code == .permissionDenied
    }
    scene.faults.reset()
    #expect(try expiry(of: "k", in: cache) == 60)
    #expect(scene.faults.count(of: .futimens) == 0)
  }

  @Test func `keeps the promise of every spelling`() async throws {
    let cache = try scene.open()
    try await cache.store([1], forKey: "k", expiration: .seconds(10))
    #expect(try await cache.touch(forKey: "k", expiration: .seconds(20)))
    scene.clock.advance(by: .seconds(20))
    #expect(try await !cache.touch(forKey: "k"))
    #expect(try await cache.entry(forKey: "k") == nil)
    #expect(try await cache.entry(forKey: "k", allowingExpired: true)?.byteCount == 1)
    #expect(try await cache.read(forKey: "k") == nil)
    let value = try #require(try await cache.read(forKey: "k", allowingExpired: true))
    #expect(value.value == [1] && value.hasExpired)
    #expect(try await cache.touch(forKey: "k", allowingExpired: true))
    #expect(try await cache.value(forKey: "k") == [1])
  }

  @Test func `of a file that another process removes at that moment is none`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(600))
    let path = scene.file("k")
    let remove: @Sendable () -> Void = {
      do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record(error) }
    }
    scene.faults.plan(.before(remove), for: .futimens, at: 1)
    #expect(try !cache.touch(forKey: "k", expiration: .never))
    #expect(try cache.value(forKey: "k") == nil)
  }

  @Test func `of an entry that is being removed with all others does not keep it`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(600))
    let remove: @Sendable () -> Void = {
      do { _ = try cache.removeAllInBackground() } catch { Issue.record(error) }
    }
    scene.faults.plan(.before(remove), for: .futimens, at: 1)
    #expect(try !cache.touch(forKey: "k", expiration: .never))
    try cache.flush()
    _ = try cache.removeAll()
    #expect(try cache.count() == 0 && scene.names == [])
  }
}
