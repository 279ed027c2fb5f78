import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// Several caches whose disks do not answer, because their system calls wait at a gate, and one
/// with a healthy disk.
@Suite(.watched)
struct `Disks that hang` {}

extension `Disks that hang` {
  /// More than the threads that caches had in common.
  private static let count = 6

  /// Makes a cache hang; returns it, if a caller keeps it.
  private typealias Hang = @Sendable (DiskScene, Gate) throws -> DiskCache?

  private static let hangs: [String: Hang] = [
    "in the opening": { scene, gate in try openingHangs(scene, gate, at: .flock) },
    "in the opening, at the file system's kind": { scene, gate in
      try openingHangs(scene, gate, at: .fstatfs)
    },
    "in a scan": { scene, gate in
      let cache = try scene.open { $0.sizeLimit = 1_000 }
      scene.faults.plan(.before { gate.pass() }, for: .readdir, onwards: true)
      try cache.store([1], forKey: "k")
      return cache
    },
    "in stamps": { scene, gate in
      let cache = try openWithUse(scene, gate) { $0.recencyGranularity = .milliseconds(1) }
      return cache
    },
    "in the writing of waiting values": { scene, gate in
      let cache = try scene.open { $0.writeBehindLimit = 10_000 }
      scene.faults.plan(.before { gate.pass() }, for: .openat, onwards: true)
      #expect(try cache.store([1], forKey: "k") == .pending)
      return cache
    },
    "in a removal of everything": { scene, gate in
      let cache = try scene.open()
      try cache.store([1], forKey: "k")
      scene.faults.plan(.before { gate.pass() }, for: .unlinkat, onwards: true)
      _ = try cache.removeAllInBackground()
      return cache
    },
    "in a look at a neighbour's change": { scene, gate in
      let cache = try scene.open { $0.coherence = .events }
      try cache.store([1], forKey: "k")
      cache.engine.startWatching()
      scene.faults.plan(.before { gate.pass() }, for: .fstatat, onwards: true)
      try Shell.run("touch -m -d '+1 day' $FILE", in: scene.path, ["FILE": scene.name("k").text])
      return cache
    },
    "in their ends": { scene, gate in
      _ = try openWithUse(scene, gate)
      return nil
    },
  ]

  private static func openingHangs(
    _ scene: DiskScene, _ gate: Gate, at call: SystemCall
  ) throws -> DiskCache? {
    scene.faults.plan(.before { gate.pass() }, for: call)
    Thread.detachNewThread {
      do { try scene.open().close() } catch { Issue.record(error) }
    }
    return nil
  }

  /// Opens a cache with a use that has to be stamped, which hangs.
  private static func openWithUse(
    _ scene: DiskScene, _ gate: Gate, _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    let cache = try scene.open(change)
    try cache.store([1], forKey: "k")
    scene.clock.advance(by: .seconds(100))
    scene.faults.plan(.before { gate.pass() }, for: .futimens, onwards: true)
    #expect(try cache.value(forKey: "k") == [1])
    return cache
  }

  @Test(arguments: hangs.keys.sorted())
  func `hold up no cache on a healthy disk`(place: String) async throws {
    let hang = try #require(Self.hangs[place])
    let gate = Gate()
    defer { gate.open() }
    let scenes = try (0..<Self.count).map { _ in try DiskScene() }
    let caches = try scenes.compactMap { scene in
      defer { gate.waitUntilReached() }
      return try hang(scene, gate)
    }
    try use()
    try await useInTasks()
    gate.open()
    try end(caches, scenes)
  }

  private func end(_ caches: [DiskCache], _ scenes: [DiskScene]) throws {
    for cache in caches { try cache.close() }
    // Waits for those that no caller keeps.
    for scene in scenes { try scene.open().close() }
  }

  private func useInTasks() async throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.sizeLimit = 1_000 }
    try await cache.store([1], forKey: "k")
    #expect(try await cache.value(forKey: "k") == [1])
    #expect(try await cache.count() == 1)
    try await cache.removeAll()
    try await cache.close()
  }

  /// Uses a cache on a healthy disk in all ways that need threads.
  private func use() throws {
    let scene = try DiskScene()
    for limit in [nil, 1_000] {
      let cache = try scene.open {
        $0.sizeLimit = 1_000
        $0.recencyGranularity = .milliseconds(1)
        $0.coherence = .events
        $0.writeBehindLimit = limit
      }
      for number in 0..<50 {
        try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
        scene.clock.advance(by: .seconds(1))
        _ = try cache.value(forKey: "\(number)")
      }
      try cache.flush()
      #expect(try cache.totalSize() <= 1_000)
      try cache.trim(toCount: 2)
      #expect(try cache.count() == 2)
      #expect(try cache.removeAllInBackground().wait().removed == 2)
      try cache.close()
    }
  }

  /// A value whose end runs a closure.
  private final class Held: Sendable {
    let onEnd: @Sendable () -> Void

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    deinit { onEnd() }
  }

  @Test func `of deinitialisers hold up no other memory`() {
    let (gate, released, heard) = (Gate(), Counter(), Happening())
    defer { gate.open() }
    let hung = (0..<Self.count).map { _ in MemoryCache<Int, Held>() }
    for cache in hung {
      for number in 0..<2_000 { cache.store(Held { gate.pass() }, forKey: number) }
      cache.removeAll()
      gate.waitUntilReached()
    }
    let cache = MemoryCache<Int, Held>()
    for number in 0..<2_000 {
      cache.store(
        Held {
          released.add()
          heard.tell()
        }, forKey: number)
    }
    cache.removeAll()
    #expect(heard.wait { released.value == 2_000 })
  }

  @Test func `of listeners hold up no other memory's sweeps`() {
    let (gate, heard) = (Gate(), Happening())
    defer { gate.open() }
    func open(_ listener: @escaping @Sendable () -> Void) -> MemoryCache<Int, Int> {
      let clock = ManualClock(Timestamp(seconds: 1_000))
      var configuration = MemoryCache<Int, Int>.Configuration()
      configuration.clock = clock.wallClock
      configuration.sweepInterval = .milliseconds(1)
      configuration.removalListener = { _, _, _ in listener() }
      let cache = MemoryCache<Int, Int>(configuration)
      cache.store(1, forKey: 1, expiration: .seconds(1))
      clock.advance(by: .seconds(2))
      return cache
    }
    let hung = (0..<Self.count).map { _ in open { gate.pass() } }
    for _ in hung { gate.waitUntilReached() }
    let swept = Counter()
    let cache = open {
      swept.add()
      heard.tell()
    }
    #expect(heard.wait { swept.value == 1 })
    #expect(cache.count == 0 && hung.count == Self.count)
  }

  @Test func `are no reason for threads of caches that are idle`() async {
    await #expect(processExitsWith: .success) {
      let first = OpenResources.threads.count
      let scenes = try (0..<40).map { _ in try DiskScene() }
      let caches = try scenes.map { scene in
        try scene.open {
          $0.sizeLimit = 1_000
          $0.coherence = .events
          $0.sweepInterval = .seconds(3_600)
        }
      }
      for cache in caches {
        try cache.store([1], forKey: "k")
        #expect(try cache.count() == 1)
      }
      #expect(Happening().wait { OpenResources.threads.count <= first + 5 })
      for cache in caches { try cache.close() }
    }
  }
}
