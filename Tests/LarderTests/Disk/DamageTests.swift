import Foundation
import LarderDigest
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

struct `Damaged and odd files` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  private static let damages: [[UInt8]] = [[1, 2, 4], [1, 2], [1, 2, 3, 4], [], [0, 0, 0]]

  @Test(arguments: damages)
  func `damaged content is a miss, counted, and gone after a flush`(content: [UInt8]) throws {
    let cache = try scene.open()
    try cache.store([1, 2, 3], forKey: "k")
    try cache.store([9], forKey: "other")
    try scene.damage("k", to: content)
    #expect(try cache.value(forKey: "k") == nil)
    #expect(cache.statistics.misses == [.damaged: 1])
    #expect(try cache.value(forKey: "k") == nil)
    try cache.flush()
    #expect(cache.statistics.removals == [.corrupt: 1])
    #expect(try scene.names == [scene.name("other").text])
    try scene.expectConsistent(cache)
  }

  @Test func `a value whose damaged file is repaired leaves memory`() throws {
    let cache = try scene.open(.string)
    try cache.store("value", forKey: "k")
    try scene.damage("k", to: [1, 2, 3])
    #expect(try cache.tier(forKey: "k") == .memory)
    #expect(try cache.disk.verify(repairs: true).removal.removed == 1)
    #expect(try cache.tier(forKey: "k") == nil)
  }

  @Test func `what is damaged goes even while other names are being changed`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1, 2, 3], forKey: "k")
    try scene.damage("k", to: [1, 2, 4])
    // Names share counters of changes. Another name with this one's counter is held all the time.
    let (key, other) = (DiskScene.name(of: Array("k".utf8)), try Self.name(sharing: "k"))
    #expect(key.digest.low & 1023 == other.digest.low & 1023)
    cache.engine.acquire(other)
    #expect(try cache.value(forKey: "k") == nil)
    // Waits for the removal of what is damaged.
    try cache.flush()
    #expect(cache.statistics.removals == [.corrupt: 1])
    #expect(try scene.names.isEmpty)
    cache.engine.release(other)
  }

  /// Returns another name with the same counter as a key's name.
  private static func name(sharing key: String) throws -> EntryName {
    let low = DiskScene.name(of: Array(key.utf8)).digest.low & 1023
    let names = (0..<100_000).lazy.map { DiskScene.name(of: Array("\($0)".utf8)) }
    return try #require(names.first { $0.digest.low & 1023 == low })
  }

  @Test(arguments: [true, false], [2 << 10, 2 << 20])
  func `a file that is written to while it is read is served only if it is whole`(
    isTorn: Bool, size: Int
  ) throws {
    let cache = try scene.open(.bytes)
    let value = [UInt8](repeating: 1, count: size)
    try cache.disk.store(value, forKey: "k")
    // Checked, so that later reads need not compare its hash.
    #expect(try cache.disk.value(forKey: "k") == value)
    scene.faults.plan(
      .before { [scene] in
        do {
          let stamp = try scene.status(scene.name("k")).modification.adding(seconds: 1)
          let file = try FileHandle(forUpdating: URL(fileURLWithPath: scene.file("k")))
          try file.seek(toOffset: UInt64(size / 2))
          if isTorn { try file.write(contentsOf: Data(repeating: 2, count: size / 2)) }
          try scene.touch(scene.name("k"), access: nil, modification: stamp)
        } catch {
          Issue.record(error)
        }
      }, for: .read)
    #expect(try cache.value(forKey: "k") == (isTorn ? nil : value))
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.tier(forKey: "k") != .memory || !isTorn)
    // The one who writes may write on.
    #expect(try scene.names.count == 1)
  }

  @Test func `a file that is written to while its store ends is damaged`() throws {
    let cache = try scene.open()
    let write: @Sendable () -> Void = { [scene] in
      do { try scene.plant([4, 5], named: scene.name("k").text) } catch { Issue.record(error) }
    }
    // Before the first look of the store at the file that has the name.
    scene.faults.plan(
      .before { [scene] in scene.faults.plan(.before(write), for: .fstat) }, for: .linkat)
    try cache.store([1, 2, 3], forKey: "k")
    #expect(scene.faults.struckCount == 2)
    #expect(try cache.value(forKey: "k") == nil)
    #expect(cache.statistics.misses == [.damaged: 1])
  }

  @Test(arguments: damages)
  func `storing if absent takes the place of a damaged value`(content: [UInt8]) throws {
    let cache = try scene.open()
    try cache.store([1, 2, 3], forKey: "k")
    try cache.close()
    try scene.damage("k", to: content)
    let reopened = try scene.open()
    #expect(try reopened.storeIfAbsent([7], forKey: "k") == .stored)
    #expect(try reopened.value(forKey: "k") == [7])
    #expect(try reopened.storeIfAbsent([8], forKey: "k") == .rejected(.alreadyPresent))
    try scene.expectConsistent(reopened)
  }

  @Test func `damaged extended data makes the value damaged`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", extendedData: [5, 6])
    #expect(try cache.read(forKey: "k")?.extendedData == [5, 6])
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    try handle.openForReading(scene.name("k")).setAttribute(.data, to: [5, 7])
    #expect(try cache.read(forKey: "k") == nil)
    #expect(cache.statistics.misses == [.damaged: 1])
  }

  @Test(arguments: [[], [5, 6]] as [[UInt8]])
  func `extended data is read for a check only if the content does not prove itself`(
    data: [UInt8]
  ) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", extendedData: data)
    try cache.close()
    let reopened = try scene.open()
    let before = scene.faults.count(of: .fgetxattr)
    #expect(try reopened.value(forKey: "k") == [1])
    #expect(scene.faults.count(of: .fgetxattr) - before == (data.isEmpty ? 1 : 2))
    for _ in 0..<2 { #expect(try reopened.read(forKey: "k")?.extendedData == data) }
    #expect(scene.faults.count(of: .fgetxattr) - before == (data.isEmpty ? 1 : 4))
  }

  @Test func `extended data that was not stored with the value is not served`() throws {
    let cache = try scene.open()
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    for key in ["k", "other"] {
      try cache.store([1], forKey: key)
      try handle.openForReading(scene.name(key)).setAttribute(.data, to: [5])
    }
    #expect(try cache.value(forKey: "k") == [1])
    #expect(try cache.read(forKey: "k")?.extendedData == [])
    #expect(try cache.read(forKey: "other") == nil)
    #expect(cache.statistics.misses == [.damaged: 1])
  }

  @Test func `an empty file is a value only if its attribute says so`() throws {
    let cache = try scene.open()
    try cache.store([], forKey: "stored empty")
    try scene.plant([], named: scene.name("power cut").text)
    for _ in 0..<2 {
      #expect(try cache.value(forKey: "stored empty") == [])
      #expect(try cache.value(forKey: "power cut") == nil)
      #expect(try !cache.contains("power cut"))
    }
    #expect(try cache.storeIfAbsent([1], forKey: "power cut") == .stored)
    try scene.expectConsistent(cache)
  }

  @Test(arguments: ["2 something else", "10 ", "0 0123456789abcdef 60 =k"])
  func `another version is a miss and stays`(attribute: String) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try scene.setAttribute(scene.name("k"), attribute)
    for _ in 0..<2 {
      #expect(try cache.value(forKey: "k") == nil)
      #expect(try !cache.contains("k"))
    }
    #expect(cache.statistics.misses == [.otherVersion: 2])
    try cache.flush()
    let verification = try cache.verify(repairs: true)
    #expect(verification.otherVersions == [scene.name("k").text])
    #expect(try scene.names == [scene.name("k").text])
    #expect(try cache.store([2], forKey: "k") == .stored)
    #expect(try cache.value(forKey: "k") == [2])
  }

  @Test(arguments: ["", "1", "nonsense", "1 0123 60 =k", String(repeating: "x", count: 4000)])
  func `a malformed attribute is damage`(attribute: String) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try scene.setAttribute(scene.name("k"), attribute)
    #expect(try cache.value(forKey: "k") == nil)
    #expect(cache.statistics.misses == [.damaged: 1])
    try cache.flush()
    #expect(try scene.names == [])
  }

  @Test func `a file longer than memory is an error and no trap`() throws {
    let cache = try scene.open()
    try scene.plant([1], named: scene.name("k").text)
    try scene.plant([1], named: scene.name("l").text)
    for key in ["k", "l"] {
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: scene.file(key)))
      try file.truncate(atOffset: 1 << 39)
      try file.close()
      let expiry = scene.clock.now.adding(seconds: 60)
      try scene.touch(scene.name(key), access: nil, modification: expiry)
    }
    let error = #expect(throws: CacheError.self) { try cache.value(forKey: "k") }
    #expect(error?.code == .resourcesExhausted)
    #expect(try cache.survey().byteCount == 1 << 40)
    #expect(try cache.totalSize() == 1 << 40)
    #expect(try cache.removeAll().removed == 2)
  }

  @Test(arguments: [(SystemCall.openat, Errno.permissionDenied), (.read, .ioError)])
  func `what cannot be read is not damaged, and a repair leaves it`(
    call: SystemCall, errno: Errno
  ) throws {
    let cache = try scene.open()
    try cache.store([1, 2, 3], forKey: "k")
    // The first open is that of the directory, by the walk.
    let n = call == .openat ? 2 : 1
    scene.faults.plan(.errno(errno), for: call, at: n, onwards: true)
    let verification = try cache.verify(repairs: true)
    #expect(verification.unreadable == [scene.name("k").text])
    #expect(verification.damaged.isEmpty && verification.removal == BulkRemoval())
    scene.faults.reset()
    #expect(try cache.value(forKey: "k") == [1, 2, 3])
    #expect(try cache.verify().unreadable.isEmpty)
  }

  @Test func `a repair leaves what was stored since it looked`() throws {
    let cache = try scene.open()
    try cache.store([1, 2, 3], forKey: "k")
    try scene.damage("k", to: [3, 2, 1])
    let scene = scene
    let isLooking: @Sendable () -> Void = {
      do {
        try FileManager.default.removeItem(atPath: scene.file("k"))
        try scene.plant([9], named: scene.name("k").text)
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(isLooking), for: .read, at: 2)
    let verification = try cache.verify(repairs: true)
    #expect(verification.damaged == [scene.name("k").text])
    #expect(verification.removal == BulkRemoval())
    #expect(try cache.value(forKey: "k") == [9])
  }

  @Test func `many readers of one damaged file count it once`() throws {
    let cache = try scene.open()
    try cache.store([1, 2, 3], forKey: "k")
    try scene.damage("k", to: [3, 2, 1])
    inThreads(8) { _ in
      do {
        #expect(try cache.value(forKey: "k") == nil)
      } catch {
        Issue.record(error)
      }
    }
    try cache.flush()
    #expect(cache.statistics.removals == [.corrupt: 1])
    #expect(cache.statistics.missCount == 8)
    try scene.expectConsistent(cache)
  }
}
