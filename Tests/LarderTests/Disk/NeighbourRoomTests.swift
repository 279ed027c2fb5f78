import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The limit among neighbours that store faster than the watcher's thread is given time.
@Suite(.watched)
struct `Room that neighbours take` {
  private let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  /// Returns a cache with a limit of 1,000 bytes and ten entries of 10 bytes, whose watching thread
  /// never runs.
  private func openWithSleepingWatcher() throws -> DiskCache {
    let cache = try scene.open {
      $0.sizeLimit = 1000
      // The neighbour is waited for, however slow the machine is.
      $0.electionPatience = .seconds(3600)
    }
    _ = try cache.count()
    for number in 0..<10 { try cache.store([UInt8](repeating: 1, count: 10), forKey: "\(number)") }
    let engine = cache.engine
    let watcher = try Watcher(engine)
    engine.watching.state.withLock { $0 = .watching(watcher) }
    engine.watching.isSettled.store(true, ordering: .releasing)
    engine.watching.isComplete.store(true, ordering: .releasing)
    return cache
  }

  /// Stores as a neighbour does.
  private func storeOutside(_ count: Int, of byteCount: Int) throws {
    for number in 0..<count {
      try scene.plant(
        [UInt8](repeating: 2, count: byteCount), named: scene.name("outside \(number)").text,
        expiry: .never)
    }
  }

  @Test func `is seen before a sixteenth of what seems left is stored`() throws {
    let cache = try openWithSleepingWatcher()
    // The first look finds the neighbours at rest, and 1,000 bytes left of 1,100.
    try cache.store([], forKey: "look")
    try storeOutside(9, of: 100)
    for number in 0..<6 { try cache.store([UInt8](repeating: 3, count: 10), forKey: "a\(number)") }
    #expect(cache.statistics.purges == 0)
    try cache.store([UInt8](repeating: 3, count: 10), forKey: "b")
    #expect(cache.statistics.purges == 1)
    try cache.flush()
    #expect(try cache.totalSize() <= 1000)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `is waited for while the neighbour that evicts removes files`() throws {
    let cache = try openWithSleepingWatcher()
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    let tag = try handle.openForReading(DirectoryMaking.tagName)
    #expect(try tag.tryLock(.exclusive))
    try storeOutside(10, of: 100)
    let (stored, heard) = (Counter(), Happening())
    try startThread {
      do {
        try cache.store([UInt8](repeating: 3, count: 10), forKey: "late")
      } catch {
        Issue.record(error)
      }
      stored.add()
      heard.tell()
    }
    #expect(!heard.wait(.milliseconds(50)) { stored.value == 1 })
    // 1,100 bytes and the new value are over 1.05 times the limit; without one file they are not.
    try FileManager.default.removeItem(atPath: scene.file("outside 0"))
    #expect(heard.wait { stored.value == 1 })
    #expect(cache.statistics.purges == 0)
    try tag.unlock()
    try cache.flush()
    try cache.close()
  }
}
