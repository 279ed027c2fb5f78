import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// Tests that hold an engine's shutdown. They run one at a time, because the process has few
/// threads for shutdowns.
@Suite(.serialized, .watched)
struct `Opening again` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `Opening again` {
  /// Uses a value, so that its stamp is pending, and releases the cache without closing it.
  private func drop(_ mode: DiskCache.Mode, at gate: Gate) throws {
    let cache = try scene.open { $0.mode = mode }
    try cache.store([1], forKey: "k")
    scene.clock.advance(by: .seconds(100))
    #expect(try cache.value(forKey: "k") == [1])
    scene.faults.plan(.before { gate.pass() }, for: .futimens, at: 1)
  }

  @Test(arguments: [DiskCache.Mode.exclusive, .shared])
  func `a cache that was dropped is waited for until its end is on disk`(
    mode: DiskCache.Mode
  ) throws {
    let gate = Gate()
    try drop(mode, at: gate)
    gate.waitUntilReached()
    let opened = Counter()
    gate.expectToHold { [scene] in
      let cache = try scene.open { $0.mode = mode }
      if try scene.status(scene.name("k")).lastAccess == scene.clock.now { opened.add() }
      try cache.close()
    }
    #expect(opened.value == 1)
  }

  @Test func `an engine that has ended evicts nothing more`() throws {
    let cache = try scene.open { $0.countLimit = 10 }
    for number in 0..<10 { try cache.store([1], forKey: "\(number)") }
    _ = try cache.count()
    let engine = cache.engine
    try cache.close()
    let again = try scene.open()
    try again.store([1], forKey: "10")
    let extra = IndexedEntry(
      name: DiskScene.name(of: [0]), byteCount: 1, allocatedByteCount: 0,
      lastAccess: scene.clock.now, expiry: .never, inode: 1, changeTime: scene.clock.now)
    engine.withState { _ = $0.catalog.index.upsert(extra, order: .mostRecent) }
    engine.checkLimits()
    engine.finishPurge()
    engine.sweep()
    #expect(try again.count() == 11)
    try scene.expectConsistent(again)
  }

  @Test func `the last to close waits for a removal of everything`() throws {
    let cache = try scene.open()
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    gate.expectToHold { try cache.close() }
    #expect(progress.isFinished)
    #expect(progress.result.removed == 5)
    let again = try scene.open()
    for number in 0..<5 { try again.store([2], forKey: "\(number)") }
    #expect(try again.count() == 5)
    try scene.expectConsistent(again)
  }

  @Test func `an engine that is ending begins no removal of everything`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    let engine = cache.engine
    try cache.close()
    let error = #expect(throws: CacheError.self) { try engine.startClearing() }
    #expect(error?.code == .closed)
    #expect(try scene.open().value(forKey: "k") == [1])
  }

  @Test func `an exclusive cache can be dropped and opened over and over`() throws {
    for round in 0..<50 {
      let cache = try scene.open { $0.mode = .exclusive }
      try cache.store([UInt8(round)], forKey: "k")
      #expect(try cache.value(forKey: "k") == [UInt8(round)])
    }
  }

  @Test func `objects detach rightly after their directory was replaced`() throws {
    let (first, second) = (try scene.open(), try scene.open())
    let aside = scene.directory.path + "/aside"
    try FileManager.default.moveItem(atPath: scene.path, toPath: aside)
    try scene.makeDirectory()
    first.engine.followReplacement(isUrgent: true)
    try first.close()
    let third = try scene.open()
    #expect(third.engine === second.engine)
    try second.close()
    try third.store([1], forKey: "k")
    try third.close()
    for path in [scene.path, aside] {
      let handle = try DirectoryHandle.open(path: path, faults: nil)
      #expect(try handle.descriptor.tryLock(.exclusive), "\(path)")
      // A program that another test begins has a copy of the descriptor for a moment.
      try handle.descriptor.unlock()
    }
    #expect(try scene.open { $0.mode = .exclusive }.value(forKey: "k") == [1])
  }
}
