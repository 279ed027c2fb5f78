import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A clock of the program may do anything, even use the cache that reads it.
@Suite(.watched)
struct `A clock of the program` {
  let scene: DiskScene
  /// The cache that the clock uses when it is read; nil if it uses none.
  private let used = Shared<DiskCache?>(nil)

  init() throws {
    scene = try DiskScene()
  }
}

extension `A clock of the program` {
  /// Returns a clock that gives the scene's time after another thread got a result from the cache.
  private func askingClock() -> WallClock {
    WallClock { [scene, used] in
      if let cache = used.value {
        let (answered, heard) = (Counter(), Happening())
        do {
          try startThread {
            _ = cache.statistics
            answered.add()
            heard.tell()
          }
        } catch {
          Issue.record(error)
        }
        // After a result has waited for the clock in vain, the clock stops using the cache.
        if !heard.wait(until: { answered.value > 0 }) {
          used.value = nil
          Issue.record("the clock was asked under the engine's lock")
        }
      }
      return scene.clock.now
    }
  }

  private static func fill(_ cache: DiskCache, _ count: Int) throws {
    for number in 0..<count {
      try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
    }
  }

  private static let uses: [@Sendable (DiskCache) throws -> Void] = [
    { _ = try $0.count() },
    { try fill($0, 12) },
    { _ = try $0.value(forKey: "0") }, { try $0.remove(forKey: "0") }, { try $0.removeAll() },
    { try $0.trim(toAge: .seconds(1)) }, { try $0.removeExpired() },
    { $0.engine.checkLimits() },
    { _ = $0.engine.makeRoom(for: 1, since: $0.engine.withState { $0.fullDisk.count }) },
    { $0.engine.sweep() }, { $0.rescan() }, { try $0.flush() },
  ]

  @Test(arguments: uses.indices) func `is asked outside of the lock`(number: Int) throws {
    let clock = askingClock()
    let cache = try scene.open {
      $0.sizeLimit = 1000
      $0.clock = clock
    }
    try Self.fill(cache, 10)
    if number > 0 { _ = try cache.count() }
    used.value = cache
    try Self.uses[number](cache)
    used.value = nil
    try cache.close()
  }
}
