import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// A clock that goes back, jumps ahead, or returns unusual times.
@Suite(.enabled(if: FileSystemFeatures.holdsNever), .watched)
struct `When the clock is wrong` {
  private static let start = Timestamp(seconds: 1_800_000_000)
  private static let hour: Int64 = 3_600
  private static let day: Int64 = 86_400
  /// The times to which the clock is set, in seconds since 1970.
  private static let times: [Int64] = [
    start.seconds - hour, start.seconds + 10 * 365 * day, -1_000_000_000, -1, 0, 1 << 31 - 2,
    1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 33 - 1, 1 << 33, 1 << 33 + 1,
  ]

  /// The entries that are stored before the clock is set, and their expiries.
  private static let entries: [(key: String, expiration: Expiration, expiry: Timestamp)] = [
    ("never", .never, .never), ("day", .days(1), start.adding(seconds: day)),
    ("long", .seconds(100 * 365 * 86_400), start.adding(seconds: 100 * 365 * day)),
    ("date", .date(start.adding(seconds: 2 * hour)), start.adding(seconds: 2 * hour)),
  ]

  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `When the clock is wrong` {
  private func filled() throws -> DiskCache {
    let cache = try scene.open()
    for entry in Self.entries {
      try cache.store([1, 2], forKey: entry.key, expiration: entry.expiration)
    }
    return cache
  }

  @Test(arguments: times, [false, true])
  func `what is lost is what has expired by the new time, and nothing else`(
    seconds: Int64, reopens: Bool
  ) throws {
    var cache = try filled()
    scene.clock.now = Timestamp(seconds: seconds)
    if reopens {
      try cache.close()
      cache = try scene.open()
    }
    let living = Self.entries.filter { !$0.expiry.hasCome(at: scene.clock.now) }.map(\.key)
    for entry in Self.entries {
      let value = try cache.read(forKey: entry.key, extending: .off)
      #expect((value != nil) == living.contains(entry.key), "\(entry.key)")
    }
    #expect(try cache.read(forKey: "never")?.expiry == .some(nil))
    #expect(try cache.removeExpired().removed == Self.entries.count - living.count)
    #expect(try cache.count() == living.count)
    _ = try cache.trim(toAge: .seconds(200 * 365 * Self.day))
    try scene.expectConsistent(cache)
  }

  @Test(arguments: times + [.min, .max])
  func `values are stored, found, listed and removed at any time`(seconds: Int64) throws {
    scene.clock.now = Timestamp(seconds: seconds)
    let cache = try filled()
    #expect(try cache.store([3], forKey: "short", expiration: .seconds(1)) == .stored)
    #expect(try cache.value(forKey: "short", extending: .off) == [3])
    #expect(try cache.value(forKey: "never") == [1, 2])
    let count = try cache.entries().count
    let removedCount = try cache.removeExpired().removed
    #expect(try cache.entries().count == count - removedCount)
    _ = try cache.survey()
    #expect(try cache.remove(forKey: "never"))
    // Beyond the largest time of the file system, every access seems to be long ago.
    try cache.trim(toAge: .seconds(1))
    try cache.flush()
    try cache.close()
    try scene.expectConsistent(try scene.open())
  }

  @Test(arguments: times.filter { $0 < 1 << 33 - 1 })
  func `a lifetime of a second ends after a second`(seconds: Int64) throws {
    scene.clock.now = Timestamp(seconds: seconds)
    let cache = try scene.open()
    try cache.store([3], forKey: "short", expiration: .seconds(1))
    #expect(try cache.contains("short"))
    scene.clock.advance(by: .seconds(1))
    // On the disk as in memory: a time that some file systems return for never is not written as an
    // expiry.
    if scene.clock.now.nanoseconds == 0 { scene.clock.advance(by: .nanoseconds(1)) }
    #expect(try cache.value(forKey: "short") == nil)
    #expect(cache.statistics.misses == [.expired: 1])
  }

  @Test func `the order of uses of this process stays right when the clock goes back`() throws {
    let cache = try filled()
    let order = ["day", "never", "date", "long"]
    for key in order {
      scene.clock.advance(by: .seconds(-Self.hour))
      _ = try cache.value(forKey: key, extending: .off)
    }
    for remaining in (0..<order.count).reversed() {
      try cache.trim(toCount: remaining)
      #expect(try cache.count() == remaining)
      for key in order.suffix(remaining) { #expect(try cache.contains(key), "\(remaining)") }
    }
  }

  @Test func `an access in the future counts as one now`() throws {
    let cache = try filled()
    scene.clock.advance(by: .seconds(10 * 365 * Self.day))
    _ = try cache.value(forKey: "never")
    try cache.close()
    scene.clock.now = Self.start.adding(seconds: Self.hour)
    let reopened = try scene.open { $0.recencyGranularity = .zero }
    #expect(try reopened.count() == Self.entries.count)
    for key in ["day", "long", "date"] { _ = try reopened.value(forKey: key) }
    scene.clock.advance(by: .seconds(1))
    _ = try reopened.value(forKey: "date")
    try reopened.trim(toCount: 1)
    #expect(try reopened.contains("date"))
  }

  @Test func `an entry goes whose use is far ahead, and whose times agree`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    let ahead = scene.clock.now.adding(seconds: 365 * Self.day)
    try scene.touch(scene.name("k"), access: ahead, modification: nil)
    // An edit by hand leaves it so, and any use on CephFS.
    let handle = try #require(FileHandle(forWritingAtPath: scene.file("k")))
    try handle.seekToEnd()
    try handle.write(contentsOf: [2])
    try handle.close()
    let status = try scene.status(scene.name("k"))
    #expect(status.change == status.modification && status.lastAccess == ahead)
    cache.rescan()
    #expect(try cache.trim(toCount: 0).removed == 1)
    #expect(try scene.names.isEmpty)
  }

  private static let clamped: [Int64] = [1 << 31 - 1, 1 << 32 - 1]

  @Test(arguments: clamped)
  func `a date that looks like never is kept as a date`(seconds: Int64) throws {
    let date = Timestamp(seconds: seconds)
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .date(date))
    let expiry = try #require(try cache.entry(forKey: "k")?.expiry)
    #expect(expiry.duration(since: date) == .nanoseconds(1))
  }
}
