import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

struct `Recency on disk` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  private func access(_ key: String) throws -> Timestamp {
    try scene.status(scene.name(key)).lastAccess
  }

  private func order(_ cache: DiskCache) throws -> [String] {
    _ = try cache.count()
    let names = cache.engine.withState { $0.catalog.index.entriesInOrder().map(\.name) }
    return try names.map { name in
      try #require(["a", "b", "c", "d"].first { scene.name($0).text == name.description })
    }
  }

  @Test(arguments: [Duration.zero, .seconds(60)])
  func `the order of use survives a restart`(granularity: Duration) throws {
    let cache = try scene.open { $0.recencyGranularity = granularity }
    for key in ["a", "b", "c", "d"] {
      try cache.store([1], forKey: key)
      scene.clock.advance(by: .seconds(1))
    }
    scene.clock.advance(by: .seconds(120))
    for key in ["c", "a", "c"] {
      _ = try cache.value(forKey: key)
      scene.clock.advance(by: .seconds(1))
    }
    #expect(try order(cache) == ["b", "d", "a", "c"])
    try cache.close()
    #expect(try order(scene.open()) == ["b", "d", "a", "c"])
  }

  @Test func `uses within one instant keep their order`() throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    for key in ["d", "b", "a", "c"] { try cache.store([1], forKey: key) }
    for key in ["b", "c"] { _ = try cache.value(forKey: key) }
    try cache.close()
    #expect(try order(scene.open()) == ["d", "a", "b", "c"])
  }

  @Test func `a stamp is written when the stored one is older than the granularity`() throws {
    let cache = try scene.open()
    let start = scene.clock.now
    try cache.store([1], forKey: "a")
    scene.clock.advance(by: .seconds(60))
    _ = try cache.value(forKey: "a")
    try cache.flush()
    #expect(try access("a") == start)
    scene.clock.advance(by: .seconds(1))
    _ = try cache.value(forKey: "a")
    #expect(try access("a") == start)
    try cache.flush()
    #expect(try access("a") == scene.clock.now)
    #expect(cache.statistics.stampsWritten == 1)
  }

  @Test(arguments: [true, false])
  func `an extension to a much later time counts from the first use on`(isSetting: Bool) throws {
    let later = ExpirationExtending.to(.days(30))
    var configuration = scene.configuration
    if isSetting { configuration.disk.extending = later }
    let cache = try Cache(
      directory: scene.path, coder: .bytes, configuration: configuration)
    try cache.store([1], forKey: "k", expiration: .hours(1))
    scene.clock.advance(by: .seconds(30))
    _ = try cache.value(forKey: "k", options: isSetting ? [] : .extending(later))
    scene.clock.advance(by: .seconds(2 * 86_400))
    #expect(try cache.value(forKey: "k") == [1])
    try cache.close()
    #expect(try scene.open().value(forKey: "k") == [1])
  }

  @Test func `a lifetime shorter than the granularity is extended in time`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "a", expiration: .seconds(16))
    for _ in 0..<50 {
      scene.clock.advance(by: .seconds(2))
      #expect(try cache.value(forKey: "a") == [1])
      try cache.flush()
    }
    #expect(try scene.status(scene.name("a")).modification == scene.clock.now.adding(seconds: 16))
  }

  private static let looks: [@Sendable (DiskCache, EntryName) throws -> Void] = [
    { cache, _ in _ = try cache.value(forKey: "a") }, { cache, _ in cache.rescan() },
    { cache, name in cache.engine.changing(name) { _ in _ = cache.engine.lookHeld(name) } },
    { cache, _ in try cache.flush() },
  ]

  @Test(arguments: looks.indices)
  func `a use of a file that is gone counts as dropped, whatever shows that it is gone`(
    number: Int
  ) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "a")
    _ = try cache.count()
    scene.clock.advance(by: .seconds(61))
    _ = try cache.value(forKey: "a")
    try FileManager.default.removeItem(atPath: scene.file("a"))
    try Self.looks[number](cache, DiskScene.name(of: Array("a".utf8)))
    #expect(cache.engine.withState { $0.catalog.uses.isEmpty })
    #expect(cache.statistics.stampsDropped == 1)
  }

  @Test func `a use of a file that cannot be opened now is a failure of the upkeep`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "a")
    scene.clock.advance(by: .seconds(61))
    _ = try cache.value(forKey: "a")
    scene.faults.plan(.errno(.tooManyOpenFiles), for: .openat)
    try cache.flush()
    #expect(cache.statistics.stampsDropped == 0)
    #expect(cache.statistics.upkeepFailures == [.tooManyOpenFiles: 1])
  }

  @Test(arguments: [Errno.tooManyOpenFiles, .tooManyOpenFilesInSystem, .ioError, .permissionDenied])
  func `a use whose stamp fails for a while is stamped by the next flush`(errno: Errno) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "a", expiration: .seconds(1_000))
    scene.clock.advance(by: .seconds(700))
    #expect(try cache.value(forKey: "a") == [1])
    let (end, expiry) = (
      scene.clock.now.adding(seconds: 1_000), try scene.status(scene.name("a")).modification
    )
    scene.faults.plan(.errno(errno), for: .openat)
    try cache.flush()
    #expect(try scene.status(scene.name("a")).modification == expiry)
    // What lasts is not tried again at each flush.
    let mayPass = errno != .permissionDenied
    #expect(cache.engine.withState { $0.catalog.uses.isEmpty } == !mayPass)
    try cache.flush()
    #expect(try scene.status(scene.name("a")).modification == (mayPass ? end : expiry))
    #expect(cache.engine.withState { $0.catalog.uses.isEmpty })
    #expect(cache.statistics.upkeepFailures == [errno: 1])
    #expect(cache.statistics.stampsDropped == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `a use whose stamp fails for a while waits for no other use`() throws {
    let cache = try scene.open { $0.recencyGranularity = .milliseconds(20) }
    try cache.store([1], forKey: "a", expiration: .seconds(100))
    scene.clock.advance(by: .seconds(70))
    // The first one is the read's.
    scene.faults.plan(.errno(.tooManyOpenFiles), for: .openat, at: 2)
    #expect(try cache.value(forKey: "a") == [1])
    let end = scene.clock.now.adding(seconds: 100)
    try eventually("the stamp") { try scene.status(scene.name("a")).modification == end }
    #expect(cache.statistics.upkeepFailures == [.tooManyOpenFiles: 1])
  }

  @Test func `a use whose stamp fails for long is tried again once a second`() throws {
    let cache = try scene.open { $0.recencyGranularity = .milliseconds(1) }
    try cache.store([1], forKey: "a")
    scene.clock.advance(by: .seconds(70))
    scene.faults.plan(.errno(.ioError), for: .futimens, onwards: true)
    let start = ContinuousClock.now
    #expect(try cache.value(forKey: "a") == [1])
    try eventually("attempts") { cache.statistics.upkeepFailures[.ioError, default: 0] > 2 }
    let failures = cache.statistics.upkeepFailures[.ioError, default: 0]
    #expect(.seconds(failures - 2) < ContinuousClock.now - start)
    scene.faults.reset()
    try eventually("the stamp") { try access("a") == scene.clock.now }
  }

  @Test func `a granularity of zero stamps at the read itself`() throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "a")
    scene.clock.advance(by: .seconds(1))
    _ = try cache.value(forKey: "a")
    #expect(try access("a") == scene.clock.now)
  }

  @Test func `a stamp at the read itself leaves an expiry that was set during the read`() throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "a", expiration: .days(1))
    scene.clock.advance(by: .seconds(1))
    let expiry = scene.clock.now
    scene.faults.plan(
      .before { [scene] in
        do {
          try scene.touch(scene.name("a"), access: nil, modification: expiry)
        } catch {
          Issue.record(error)
        }
      }, for: .read)
    #expect(try cache.value(forKey: "a") == [1])
    #expect(try scene.status(scene.name("a")).modification == expiry)
    #expect(try access("a") == scene.clock.now)
    #expect(try cache.value(forKey: "a") == nil)
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [Expiration.seconds(60), .seconds(7 * 86_400 - 60), .days(30)])
  func `a use that began before an expiry was set leaves it`(expiration: Expiration) throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    // So long that its content is read after its attribute.
    try cache.store([UInt8](repeating: 1, count: 1 << 20 + 1), forKey: "k", expiration: .days(7))
    scene.clock.advance(by: .seconds(600))
    let expiry = expiration.expiry(at: scene.clock.now)
    let touch: @Sendable () -> Void = {
      do {
        #expect(try cache.touch(forKey: "k", expiration: .date(expiry)))
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(touch), for: .read)
    #expect(try cache.value(forKey: "k") != nil)
    try cache.flush()
    #expect(try cache.entry(forKey: "k")?.expiry == expiry)
  }

  @Test func `a shorter extension that waits ends no longer one`() throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "k", expiration: .seconds(10))
    _ = try cache.value(forKey: "k")
    let expiry = scene.clock.now.adding(seconds: 604_800)
    let other: @Sendable () -> Void = {
      do {
        _ = try cache.value(forKey: "k", extending: .to(.seconds(60)))
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(other), for: .futimens)
    #expect(try cache.read(forKey: "k", extending: .to(.days(7)))?.expiry == expiry)
    try cache.flush()
    #expect(try cache.entry(forKey: "k")?.expiry == expiry)
  }

  @Test func `a read that ends after its cache was closed stamps nothing`() throws {
    let cache = try scene.open { ($0.recencyGranularity, $0.mode) = (.zero, .exclusive) }
    try cache.store([UInt8](repeating: 1, count: 1 << 20 + 1), forKey: "k", expiration: .days(7))
    let before = try scene.status(scene.name("k"))
    scene.clock.advance(by: .seconds(600))
    let close: @Sendable () -> Void = {
      do {
        try cache.close()
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(close), for: .read)
    #expect(try cache.value(forKey: "k") != nil)
    let after = try scene.status(scene.name("k"))
    #expect(after.lastAccess == before.lastAccess && after.modification == before.modification)
  }

  @Test func `a use reaches the disk if an earlier one was stamped during its read`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "a", expiration: .days(1))
    scene.clock.advance(by: .seconds(61))
    _ = try cache.value(forKey: "a")
    scene.clock.advance(by: .seconds(61))
    scene.faults.plan(
      .before {
        do { try cache.flush() } catch { Issue.record(error) }
      }, for: .read)
    #expect(try cache.value(forKey: "a") == [1])
    try cache.flush()
    #expect(try access("a") == scene.clock.now)
    let expiry = scene.clock.now.adding(seconds: 86_400)
    #expect(try scene.status(scene.name("a")).modification == expiry)
    try scene.expectConsistent(cache)
  }

  @Test func `a stamp at the read itself that meets a replaced file counts as dropped`() throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "a")
    try scene.plant([2], named: "b")
    scene.clock.advance(by: .seconds(1))
    scene.faults.plan(
      .before { [scene] in
        do {
          let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
          try handle.rename(FileName(text: "b"), to: scene.name("a"))
        } catch {
          Issue.record(error)
        }
      }, for: .futimens)
    #expect(try cache.value(forKey: "a") == [1])
    #expect(scene.faults.struckCount == 1)
    #expect(cache.statistics.stampsWritten == 0 && cache.statistics.stampsDropped == 1)
    #expect(try access("a") == scene.clock.now.adding(seconds: -1))
  }

  @Test func `looking without use changes nothing`() throws {
    let cache = try scene.open { $0.recencyGranularity = .zero }
    try cache.store([1], forKey: "a")
    let before = try scene.status(scene.name("a"))
    scene.clock.advance(by: .seconds(1000))
    #expect(try cache.contains("a"))
    _ = try cache.entry(forKey: "a")
    _ = try cache.entries()
    _ = try cache.survey()
    _ = try cache.verify()
    _ = try cache.count()
    try cache.flush()
    let after = try scene.status(scene.name("a"))
    #expect(after.lastAccess == before.lastAccess && after.change == before.change)
  }

  @Test func `an access in the future counts as now and is corrected by a use`() throws {
    let cache = try scene.open()
    for key in ["a", "b"] { try cache.store([1], forKey: key) }
    try cache.close()
    scene.clock.advance(by: .seconds(1))
    let future = scene.clock.now.adding(seconds: 315_360_000)
    try scene.touch(scene.name("a"), access: future, modification: nil)
    let reopened = try scene.open { $0.recencyGranularity = .zero }
    #expect(try order(reopened) == ["b", "a"])
    scene.clock.advance(by: .seconds(10))
    _ = try reopened.value(forKey: "b")
    #expect(try order(reopened) == ["a", "b"])
    #expect(try reopened.trim(toAge: .seconds(5)).removed == 1)
    #expect(try scene.names == [scene.name("b").text])
    try scene.touch(scene.name("b"), access: future, modification: nil)
    _ = try reopened.value(forKey: "b")
    #expect(try access("b") <= scene.clock.now.adding(seconds: 1))
  }

  @Test func `when the clock is set back the order of use stays right`() throws {
    let cache = try scene.open()
    for key in ["a", "b"] { try cache.store([1], forKey: key) }
    scene.clock.advance(by: .seconds(-3600))
    _ = try cache.value(forKey: "a")
    try cache.store([1], forKey: "c")
    #expect(try order(cache) == ["b", "a", "c"])
    #expect(try cache.trim(toCount: 2).removed == 1)
    #expect(try !cache.contains("b"))
    try scene.expectConsistent(cache)
  }

  @Test func `a use of what was replaced meanwhile does not extend it`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "a")
    scene.clock.advance(by: .seconds(100))
    _ = try cache.value(forKey: "a")
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    try handle.unlink(scene.name("a"))
    try scene.plant([2], named: scene.name("a").text)
    let before = try scene.status(scene.name("a"))
    try cache.flush()
    #expect(try scene.status(scene.name("a")).modification == before.modification)
    #expect(try cache.value(forKey: "a") == [2])
  }
}
