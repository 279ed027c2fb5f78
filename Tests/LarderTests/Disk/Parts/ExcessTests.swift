import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The bytes on disk beyond a limit, while everything is being removed and at rest.
@Suite(.serialized, .watched)
struct `The excess over a limit` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `The excess over a limit` {
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
    gate.expectToHold { try cache.store(Self.value, forKey: "10") }
    try progress.wait()
    #expect(try cache.count() == 1 && cache.statistics.purges == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `a store waits for no file that others have removed, beside a name that is held`()
    throws
  {
    let cache = try filled(10)
    let (gate, stored) = (Gate(), Counter())
    let name = cache.subject("held").name
    try startThread { cache.engine.changing(name) { _ in gate.pass() } }
    gate.waitUntilReached()
    for number in 0..<10 { try FileManager.default.removeItem(atPath: scene.file("\(number)")) }
    let progress = try cache.removeAllInBackground()
    try startThread {
      do { try cache.store(Self.value, forKey: "10") } catch { Issue.record(error) }
      stored.add()
    }
    try eventually("the store to end") { stored.value == 1 }
    gate.open()
    try progress.wait()
    #expect(try cache.count() == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a store of a pending value by another store waits for nothing`() throws {
    let cache = try scene.open {
      $0.sizeLimit = 1000
      $0.writeBehindLimit = 1 << 20
    }
    _ = try cache.count()
    // The writer does not come, so the next store writes the value.
    cache.blockWriter()
    let value = [UInt8](repeating: 1, count: 600)
    try cache.store(value, forKey: "k", expiration: .seconds(1))
    scene.clock.advance(by: .seconds(2))
    #expect(try cache.storeIfAbsent(value, forKey: "k") == .stored)
    try scene.expectConsistent(cache)
  }
}
