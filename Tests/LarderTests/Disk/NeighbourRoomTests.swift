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
}

extension `Room that neighbours take` {
  /// Returns a cache with a limit of 10,000 bytes and ten entries of 10 bytes, whose watching
  /// thread never runs.
  private func openWithSleepingWatcher() throws -> DiskCache {
    let cache = try scene.open { $0.sizeLimit = 10_000 }
    _ = try cache.count()
    for number in 0..<10 { try cache.store([UInt8](repeating: 1, count: 10), forKey: "\(number)") }
    let engine = cache.engine
    try engine.watching.open(engine)
    engine.watching.advance(to: .settled)
    engine.watching.complete(true)
    return cache
  }

  @Test func `is seen before a 64th of what seems left is stored`() throws {
    let cache = try openWithSleepingWatcher()
    // The first look finds the neighbours at rest, and 10,900 bytes left of 11,000: 170 a look.
    try cache.store([], forKey: "look")
    for number in 0..<100 {
      try scene.plant(
        [UInt8](repeating: 2, count: 100), named: scene.name("outside \(number)").text,
        expiry: .never)
    }
    for number in 0..<17 { try cache.store([UInt8](repeating: 3, count: 10), forKey: "a\(number)") }
    #expect(cache.statistics.purges == 0)
    try cache.store([UInt8](repeating: 3, count: 10), forKey: "b")
    #expect(cache.statistics.purges == 1)
    try cache.flush()
    #expect(try cache.totalSize() <= 5_000)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `is made although another program holds the tag`() throws {
    let cache = try openWithSleepingWatcher()
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    let tag = try handle.openForReading(DirectoryMaking.tagName)
    #expect(try tag.tryLock(.exclusive))
    for number in 0..<10 {
      try cache.store([UInt8](repeating: 3, count: 1000), forKey: "a\(number)")
    }
    #expect(cache.engine.withState { $0.catalog.index.totals.byteCount } <= 10_000)
    try cache.flush()
    #expect(try scene.names.count == 5)
    try tag.unlock()
    try cache.close()
  }
}
