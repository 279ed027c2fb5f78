import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The end of a watcher, while its thread has not begun to run or another thread acts on events.
@Suite(.watched)
struct `A watcher that is stopped` {
  private let scene: DiskScene
  private let happening = Happening()

  init() throws {
    scene = try DiskScene()
  }
}

extension `A watcher that is stopped` {
  /// Returns a cache that follows events. The watcher's thread gets no time to run: it is never
  /// started.
  private func openWithSleepingWatcher() throws -> DiskCache {
    let cache = try scene.open { $0.sizeLimit = nil }
    try cache.store([1], forKey: "k")
    let engine = cache.engine
    try engine.watching.open(engine)
    engine.watching.advance(to: .settled)
    engine.watching.complete(true)
    return cache
  }

  /// Runs a body in a new thread, and expects that it returns.
  private func expectEnd(_ body: @escaping @Sendable () -> Void) throws {
    let ended = Counter()
    try startThread {
      body()
      ended.add()
      happening.tell()
    }
    #expect(happening.wait { ended.value == 1 })
  }

  @Test func `ends although its thread has not woken`() throws {
    let cache = try openWithSleepingWatcher()
    try expectEnd { cache.engine.endWatching() }
    try cache.close()
  }

  @Test func `waits for a thread that is acting on events`() throws {
    let cache = try openWithSleepingWatcher()
    try Shell.run("touch $FILE", in: scene.path, ["FILE": scene.name("k").text])
    let (gate, followed) = (Gate(), Counter())
    scene.faults.plan(.before { gate.pass() }, for: .fstatat)
    try startThread {
      if cache.engine.catchUp() { followed.add() }
      happening.tell()
    }
    gate.waitUntilReached()
    gate.expectToHold { cache.engine.endWatching() }
    #expect(happening.wait { followed.value == 1 })
    try cache.close()
  }

  @Test func `acts on nothing more, and does not claim to be up to date`() throws {
    let cache = try openWithSleepingWatcher()
    #expect(cache.engine.catchUp())
    try FileManager.default.removeItem(atPath: scene.file("k"))
    try expectEnd { cache.engine.endWatching() }
    #expect(!cache.engine.catchUp())
    #expect(
      cache.engine.withState { $0.catalog.index.contains(DiskScene.name(of: Array("k".utf8))) })
    try cache.close()
  }

  /// Stops the watching when it is told of a change.
  private final class Stopper: EngineObserver {
    let engine: DiskEngine

    init(_ engine: DiskEngine) { self.engine = engine }

    func hear(of change: DiskChange) { engine.endWatching() }
  }

  @Test func `does not wait for the thread that stops it while it acts`() throws {
    let cache = try openWithSleepingWatcher()
    let engine = cache.engine
    let stopper = Stopper(engine)
    engine.observers.add(stopper)
    try FileManager.default.removeItem(atPath: scene.file("k"))
    try expectEnd { _ = engine.catchUp() }
    #expect(!engine.hasEvents)
    #expect(!engine.withState { $0.catalog.index.contains(DiskScene.name(of: Array("k".utf8))) })
    engine.observers.remove(ObjectIdentifier(stopper))
    try cache.close()
  }
}
