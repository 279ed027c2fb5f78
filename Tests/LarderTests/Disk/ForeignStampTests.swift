import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Entries on a network file system that keeps or shows stamps in another way than a local disk,
/// simulated by the plan of failures.
struct `Where stamps are kept otherwise` {
  private static let ceph = FileSystemKind(name: "fuse.ceph-fuse", isNetwork: true)
  private let scene: DiskScene

  init() throws {
    scene = try DiskScene()
    scene.faults.simulate(.cephFuse)
  }

  private func open(
    _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    try scene.open {
      $0.fileSystem = Self.ceph
      $0.recencyGranularity = .zero
      change(&$0)
    }
  }

  @Test(arguments: [Expiration.never, .seconds(1 << 30), .seconds(3600)])
  func `a short life lasts, whatever was stored before`(before: Expiration) throws {
    let cache = try open()
    try cache.store([1], forKey: "before", expiration: before)
    try cache.store([2], forKey: "short", expiration: .seconds(60))
    #expect(try cache.value(forKey: "short") == [2])
    scene.clock.advance(by: .seconds(61))
    #expect(try cache.value(forKey: "short") == nil)
  }

  @Test func `a value that was just used elsewhere is not evicted`() throws {
    let cache = try open()
    for key in ["a", "b"] {
      try cache.store([1], forKey: CacheKey(key), expiration: .never)
      scene.clock.advance(by: .seconds(100))
    }
    _ = try cache.count()
    // Another machine's use sets the last access alone, and the change time shows the expiry still.
    try scene.touch(scene.name("a"), access: scene.clock.now, modification: nil)
    #expect(try cache.trim(toCount: 1).removed == 1)
    #expect(try cache.value(forKey: "a") == [1])
    #expect(try scene.names == [scene.name("a").text])
  }

  /// The time that the simulated file system makes of an expiry that it cannot hold.
  private static func wrapped(_ time: Timestamp) -> Timestamp {
    Timestamp(seconds: time.seconds & (1 << 32 - 1), nanoseconds: Int64(time.nanoseconds))
  }

  /// Expects that no stamp wrapped while a body changed an entry that other machines could see.
  private func expectNoWrap(
    during body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) rethrows {
    let before = scene.faults.requestedStamps.count
    try body()
    let requested = scene.faults.requestedStamps.dropFirst(before)
    #expect(!requested.isEmpty, sourceLocation: sourceLocation)
    #expect(requested.allSatisfy { Self.wrapped($0) == $0 }, sourceLocation: sourceLocation)
  }

  @Test func `a use of an entry that never expires leaves its expiry alone`() throws {
    let cache = try open()
    try cache.store([1], forKey: "a", expiration: .never)
    #expect(try scene.status(scene.name("a")).modification == Timestamp(seconds: 1 << 32 - 1))
    scene.clock.advance(by: .seconds(100))
    try expectNoWrap { () throws in #expect(try cache.value(forKey: "a") == [1]) }
    #expect(try #require(try cache.entry(forKey: "a")).expiry == nil)
    // A cache that has stored nothing, and knows nothing of the range.
    try cache.close()
    scene.clock.advance(by: .seconds(100))
    let next = try open()
    try expectNoWrap { () throws in #expect(try next.value(forKey: "a") == [1]) }
    #expect(try next.entry(forKey: "a")?.lastAccess == scene.clock.now)
  }

  @Test func `an expiry that cannot be held is never`() throws {
    let cache = try open()
    try cache.store([1], forKey: "late", expiration: .date(Timestamp(seconds: 1 << 32 + 5)))
    try cache.store([1], forKey: "held", expiration: .date(Timestamp(seconds: 1 << 32 - 5)))
    #expect(try #require(try cache.entry(forKey: "late")).expiry == nil)
    #expect(try cache.entry(forKey: "held")?.expiry == Timestamp(seconds: 1 << 32 - 5))
  }

  @Test(arguments: [true, false])
  func `a touch writes no expiry that wraps to a file that others see`(knows: Bool) throws {
    var cache = try open()
    try cache.store([1], forKey: "a", expiration: .seconds(100))
    try cache.store([1], forKey: "b", expiration: .never)
    if !knows {
      try cache.close()
      cache = try open()
    }
    let temporary = Timestamp.never
    let before = scene.faults.requestedStamps.count
    #expect(try cache.touch(forKey: "a", expiration: .never))
    // What is tried out on a temporary comes before.
    let requested = scene.faults.requestedStamps.dropFirst(before)
    #expect(requested.dropLast().contains(temporary) == !knows)
    #expect(requested.last == Timestamp(seconds: 1 << 32 - 1))
    #expect(try #require(try cache.entry(forKey: "a")).expiry == nil)
    #expect(try scene.names.count == 2)
  }

  @Test func `a use that extends beyond what can be held makes the entry one that never expires`()
    throws
  {
    let end = Timestamp(seconds: 1 << 32 - 1)
    let life = Expiration.seconds(Int(end.seconds - scene.clock.now.seconds) - 50)
    let cache = try open()
    try cache.store([1], forKey: "a", expiration: life)
    try cache.store([1], forKey: "learns", expiration: .never)
    scene.clock.advance(by: .seconds(20))
    #expect(try cache.value(forKey: "a") == [1])
    #expect(try cache.entry(forKey: "a")?.expiry == end.adding(seconds: -30))
    scene.clock.advance(by: .seconds(80))
    try expectNoWrap { () throws in #expect(try cache.value(forKey: "a") == [1]) }
    #expect(try scene.status(scene.name("a")).modification == end)
    #expect(try #require(try cache.entry(forKey: "a")).expiry == nil)
  }

  @Test func `an expiry that is given to a file by hand does not wrap`() throws {
    let cache = try open()
    try cache.store([1], forKey: "a", expiration: .seconds(100))
    try cache.store([1], forKey: "learns", expiration: .never)
    try expectNoWrap { () throws in
      #expect(
        try cache.stamp(scene.name("a").text, expiration: .never) == .stamped(expiry: nil))
    }
    #expect(try cache.value(forKey: "a") == [1])
  }

  @Test func `the range is tried out again on another mount`() throws {
    scene.faults.simulate(StampSimulation())
    let cache = try open()
    try cache.store([1], forKey: "a", expiration: .never)
    #expect(try scene.status(scene.name("a")).modification == .never)
    scene.faults.simulate(.cephFuse)
    try FileManager.default.moveItem(atPath: scene.path, toPath: scene.path + ".aside")
    try cache.engine.revalidate(isUrgent: true, mayMake: true, "store")
    try cache.store([1], forKey: "a", expiration: .never)
    #expect(try cache.value(forKey: "a") == [1])
    #expect(try scene.status(scene.name("a")).modification == Timestamp(seconds: 1 << 32 - 1))
  }

  @Test func `what cannot be tried out is kept for good`() throws {
    let cache = try open()
    try cache.store([1], forKey: "a", expiration: .seconds(100))
    scene.faults.plan(.errno(.noSpace), for: .openat, at: 2)
    #expect(try cache.touch(forKey: "a", expiration: .never))
    #expect(scene.faults.struckCount == 1)
    #expect(try #require(try cache.entry(forKey: "a")).expiry == nil)
  }

  @Test func `a file system with more bits keeps never as it is`() throws {
    scene.faults.simulate(StampSimulation())
    let cache = try open()
    try cache.store([1], forKey: "a", expiration: .never)
    #expect(try scene.status(scene.name("a")).modification == .never)
    try cache.store([1], forKey: "b", expiration: .date(Timestamp(seconds: 1 << 32 + 5)))
    #expect(try cache.entry(forKey: "b")?.expiry == Timestamp(seconds: 1 << 32 + 5))
  }
}
