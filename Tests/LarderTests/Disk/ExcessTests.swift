import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The bytes on disk beyond a limit, while victims are being removed and at rest.
@Suite(.serialized, .watched)
struct `The excess over a limit` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  private static let value = [UInt8](repeating: 1, count: 100)

  private func filled(_ count: Int) throws -> DiskCache {
    let cache = try scene.open { $0.sizeLimit = 1000 }
    _ = try cache.count()
    for number in 0..<count { try cache.store(Self.value, forKey: "\(number)") }
    return cache
  }

  @Test func `at rest there is none, however stores and purges meet`() throws {
    let cache = try scene.open {
      $0.countLimit = 8
      $0.trimTarget = 1
    }
    _ = try cache.count()
    for round in 0..<300 {
      inThreads(6) { thread in
        do {
          for number in 0..<4 { try cache.store([1], forKey: "\(round) \(thread) \(number)") }
        } catch {
          Issue.record(error)
        }
      }
      try cache.flush()
      try #require(try cache.count() <= 8, "round \(round)")
    }
    try scene.expectConsistent(cache)
  }

  @Test func `a store waits for the files of a removal of everything`() throws {
    let cache = try filled(10)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    // Eleven files are 1.1 times the limit, so the twelfth has to wait.
    try cache.store(Self.value, forKey: "10")
    gate.expectToHold { try cache.store(Self.value, forKey: "11") }
    try progress.wait()
    #expect(try cache.count() == 2)
    try scene.expectConsistent(cache)
  }

  @Test func `of several stores that wait for room, as many go on as there is room for`() throws {
    let cache = try filled(10)
    let (first, second) = (Gate(), Gate())
    scene.faults.plan(.before { first.pass() }, for: .unlinkat, at: 1)
    scene.faults.plan(.before { second.pass() }, for: .unlinkat, at: 2)
    try cache.store(Self.value, forKey: "10")
    first.waitUntilReached()
    let stores = try HeldStores(of: Self.value, count: 6, in: cache, faults: scene.faults)
    first.open()
    second.waitUntilReached()
    // One victim is gone, so there is room for one value.
    stores.expectToWrite(1)
    stores.writing.open()
    #expect(stores.heard.wait { stores.done.value == 1 })
    #expect(cache.statistics.stores == 12)
    second.open()
    #expect(stores.heard.wait { stores.done.value == 6 })
    try scene.expectConsistent(cache)
  }

  @Test func `of stores that arrive together, as many go on as there is room for`() throws {
    let cache = try filled(0)
    let value = [UInt8](repeating: 1, count: 450)
    let stores = try HeldStores(of: value, count: 4, in: cache, faults: scene.faults)
    stores.expectToWrite(2)
    stores.writing.open()
    #expect(stores.heard.wait { stores.done.value == 4 })
    try scene.expectConsistent(cache)
    // A value larger than the room goes on if no other store is under way.
    try cache.store([UInt8](repeating: 1, count: 900), forKey: "large")
    try cache.close()
  }

  @Test func `a large value waits only for the stores that were there before`() throws {
    let cache = try filled(0)
    let half = [UInt8](repeating: 1, count: 450)
    let (first, second) = (Gate(), Gate())
    scene.faults.plan(.before { first.pass() }, for: .write, at: 1)
    scene.faults.plan(.before { second.pass() }, for: .write, at: 2)
    let (done, heard) = (Counter(), Happening())
    func start(_ value: [UInt8], _ key: String) throws {
      try startThread {
        do {
          try cache.store(value, forKey: CacheKey(key))
        } catch {
          Issue.record(error)
        }
        done.add()
        heard.tell()
      }
    }
    try start(half, "before")
    first.waitUntilReached()
    try start([UInt8](repeating: 1, count: 900), "large")
    #expect(!heard.wait(.milliseconds(300)) { done.value > 0 })
    try start(half, "after")
    second.waitUntilReached()
    first.open()
    #expect(heard.wait { done.value == 2 })
    second.open()
    #expect(heard.wait { done.value == 3 })
    try cache.flush()
    try scene.expectConsistent(cache)
  }

  @Test func `a store of a pending value by another store does not wait for the room of that one`()
    throws
  {
    let cache = try scene.open {
      $0.sizeLimit = 1000
      $0.writeBehindLimit = 1 << 20
    }
    _ = try cache.count()
    // The writer does not come, so the next store writes the value.
    cache.withBacklog { $0.hasWriter = true }
    let value = [UInt8](repeating: 1, count: 600)
    try cache.store(value, forKey: "k", expiration: .seconds(1))
    scene.clock.advance(by: .seconds(2))
    #expect(try cache.storeIfAbsent(value, forKey: "k") == .stored)
    try scene.expectConsistent(cache)
  }
}

/// Stores in threads of their own. Each of them waits before its write, so that the others look
/// while its file is not there yet.
private struct HeldStores {
  let begun = Counter()
  let done = Counter()
  let heard = Happening()
  let writing = Gate()

  init(of value: [UInt8], count: Int, in cache: DiskCache, faults: FaultInjector) throws {
    faults.plan(
      .before { [begun, heard, writing] in
        begun.add()
        heard.tell()
        writing.pass()
      }, for: .write, onwards: true)
    for number in 0..<count {
      try startThread { [done, heard] in
        do {
          try cache.store(value, forKey: "held \(number)")
        } catch {
          Issue.record(error)
        }
        done.add()
        heard.tell()
      }
    }
  }

  /// Expects that as many of them as this have begun to write, and that the others wait.
  func expectToWrite(_ count: Int) {
    #expect(heard.wait { begun.value >= count })
    #expect(!heard.wait(.milliseconds(300)) { begun.value > count })
  }
}
