import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// Changes of a file by other processes at the moment in which a cache changes it too, so that
/// their event finds an index that already knows.
@Suite(.watched)
struct `What others do between two steps of a cache` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `What others do between two steps of a cache` {
  private func open(
    _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> Cache<String> {
    try scene.open(.string) { configuration in
      configuration.disk.coherence = .strict
      change(&configuration.disk)
    }
  }

  /// Runs a script, as another process would, before a call of the cache.
  private func before(_ call: SystemCall, at n: Int = 1, _ script: String) {
    let file = scene.name("k").text
    scene.faults.plan(
      .before { [scene] in
        do {
          try Shell.run(script, in: scene.path, ["FILE": file])
        } catch {
          Issue.record(error)
        }
      }, for: call, at: n)
  }

  /// Touches the file directly before a call of the cache. The event arrives later.
  private func touch(before call: SystemCall) {
    scene.faults.plan(
      .before { [scene] in
        let now = scene.clock.now
        do {
          try scene.touch(scene.name("k"), access: now, modification: now)
        } catch {
          Issue.record(error)
        }
      }, for: call)
  }

  @Test(arguments: [nil, 1000])
  func `ends a value in memory whose file has just got its name`(behind: Int?) throws {
    let cache = try open { $0.writeBehindLimit = behind }
    // Starts the watching.
    #expect(try cache.value(forKey: "other") == nil)
    // After the rename, and before the status is read.
    touch(before: .fstat)
    try cache.store("old", forKey: "k")
    try cache.flush()
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }

  @Test func `ends a value in memory of which a use is being stamped`() throws {
    let cache = try open { $0.extending = .off }
    try cache.store("old", forKey: "k")
    cache.memory.removeAll()
    scene.clock.advance(by: .seconds(600))
    #expect(try cache.value(forKey: "k") == "old")
    #expect(try cache.tier(forKey: "k") == .memory)
    touch(before: .futimens)
    try cache.flush()
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }

  /// Edits the file in place before a call of the cache, and keeps its stamps.
  private func edit(before call: SystemCall, at n: Int = 1, to text: String = "odd") {
    scene.faults.plan(
      .before { [scene] in
        do {
          try scene.damage("k", to: Array(text.utf8))
        } catch {
          Issue.record(error)
        }
      }, for: call, at: n)
  }

  @Test(arguments: [DiskCache.Coherence.none, .strict], [SystemCall.openat, .futimens])
  func `serves no edited file because a use of the one before is being stamped`(
    coherence: DiskCache.Coherence, call: SystemCall
  ) throws {
    let cache = try open { $0.coherence = coherence }
    try cache.store("old", forKey: "k")
    scene.clock.advance(by: .seconds(600))
    #expect(try cache.disk.value(forKey: "k") == Array("old".utf8))
    edit(before: call)
    // Writes the pending use.
    try cache.flush()
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.disk.value(forKey: "k") == nil)
    if coherence == .strict { #expect(try cache.value(forKey: "k") == nil) }
    try cache.close()
  }

  @Test func `counts the size of an edited file of which a use is being stamped`() throws {
    let cache = try open { $0.coherence = .none }
    try cache.store("old", forKey: "k")
    #expect(try cache.disk.totalSize() == 3)
    scene.clock.advance(by: .seconds(600))
    #expect(try cache.disk.value(forKey: "k") == Array("old".utf8))
    edit(before: .openat, to: "longer")
    try cache.flush()
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.disk.totalSize() == 6)
    try cache.close()
  }

  @Test func `serves no edited file because it is being touched`() throws {
    let cache = try open { $0.coherence = .none }
    try cache.store("old", forKey: "k")
    #expect(try cache.disk.value(forKey: "k") == Array("old".utf8))
    edit(before: .futimens)
    #expect(try cache.disk.touch(forKey: "k", expiration: .seconds(900)))
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.disk.value(forKey: "k") == nil)
    try cache.close()
  }

  @Test func `serves no edited file because its use is being stamped`() throws {
    let cache = try open {
      $0.coherence = .none
      $0.recencyGranularity = .zero
    }
    try cache.store("old", forKey: "k")
    scene.clock.advance(by: .seconds(600))
    // After the read, and before the look at the file that is to be stamped.
    edit(before: .fstat, at: 2)
    #expect(try cache.disk.value(forKey: "k") == Array("old".utf8))
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.disk.value(forKey: "k") == nil)
    try cache.close()
  }

  @Test func `keeps memory from being current until it is told of an expiry met by a stamp`() throws
  {
    let cache = try open {
      $0.coherence = .events
      $0.extending = .off
    }
    try cache.store("old", forKey: "k")
    scene.clock.advance(by: .seconds(600))
    #expect(try cache.disk.value(forKey: "k") == Array("old".utf8))
    let engine = cache.disk.engine
    engine.startWatching()
    #expect(engine.catchUp())
    let listener = Listener(engine)
    engine.observers.add(listener)
    touch(before: .futimens)
    try cache.flush()
    #expect(scene.faults.struckCount == 1)
    #expect(listener.answers.value == 0 && engine.catchUp())
    engine.observers.remove(ObjectIdentifier(listener))
    try cache.close()
  }

  @Test(arguments: [false, true])
  func `takes a value from memory that a limit is evicting`(isHeld: Bool) throws {
    let cache = try open { $0.countLimit = 1 }
    _ = try cache.disk.count()
    cache.disk.engine.startWatching()
    try cache.store("old", forKey: "k")
    // The store's own event must not come while the name is held: then memory is told in any case.
    #expect(cache.disk.engine.catchUp())
    let gate = Gate()
    if isHeld {
      scene.faults.plan(.before { gate.pass() }, for: .unlinkat)
    } else {
      before(.unlinkat, "rm $FILE")
    }
    let (stored, heard) = (Counter(), Happening())
    // The thread that stores may be the one that evicts.
    try startThread {
      #expect(throws: Never.self) { try cache.store("other", forKey: "other") }
      stored.add()
      heard.tell()
    }
    if isHeld {
      gate.waitUntilReached()
      #expect(try cache.tier(forKey: "k") == .disk)
      try Shell.run("rm $FILE", in: scene.path, ["FILE": scene.name("k").text])
      #expect(try cache.value(forKey: "k") == nil)
      gate.open()
    }
    #expect(heard.wait { stored.value == 1 })
    try cache.flush()
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try cache.value(forKey: "other") == "other")
    try cache.close()
  }

  /// Follows events of the file, or the loss of any.
  private func hear(_ kinds: [DirectoryEvent.Kind], _ cache: Cache<String>) {
    var batch = EventBatch()
    for kind in kinds {
      let watch: Int32 = kind == .overflow ? -1 : 1
      batch.add(DirectoryEvent(watch: watch, kind: kind, name: scene.name("k")), watch: 1)
    }
    cache.disk.engine.act(on: batch)
  }

  @Test(arguments: [[DirectoryEvent.Kind.created, .removed], [.overflow]])
  func `keeps nothing in memory of a file that was removed before the index had it`(
    events: [DirectoryEvent.Kind]
  ) throws {
    let cache = try open { $0.coherence = .none }
    let (gate, stored) = (Gate(), Counter())
    let happening = Happening()
    scene.faults.plan(.before { gate.pass() }, for: .fstat)
    try startThread {
      do {
        try cache.store("old", forKey: "k")
      } catch {
        Issue.record(error)
      }
      stored.add()
      happening.tell()
    }
    gate.waitUntilReached()
    try FileManager.default.removeItem(atPath: scene.file("k"))
    hear(events, cache)
    gate.open()
    #expect(happening.wait { stored.value == 1 })
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try cache.disk.count() == 0)
    try cache.close()
  }

  @Test func `keeps nothing in memory of a file that was touched before a limit evicted it`() throws
  {
    let cache = try open {
      $0.coherence = .none
      $0.countLimit = 1
    }
    _ = try cache.disk.count()
    try cache.store("old", forKey: "k")
    let (gate, followed) = (Gate(), Gate())
    followed.open()
    // After the eviction has judged the file.
    let touchAndFollow: @Sendable () -> Void = { [scene] in
      let now = scene.clock.now
      do {
        try scene.touch(scene.name("k"), access: now, modification: now)
        scene.faults.plan(.before { gate.pass() }, for: .fstatat)
        try startThread {
          hear([.attributes], cache)
          followed.pass()
        }
      } catch {
        Issue.record(error)
      }
      gate.waitUntilReached()
    }
    scene.faults.plan(.before(touchAndFollow), for: .unlinkat)
    try cache.store("other", forKey: "other")
    cache.disk.engine.finishPurge()
    #expect(try cache.tier(forKey: "k") == .memory)
    gate.open()
    followed.waitUntilReached()
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }

  @Test(arguments: [SystemCall.fstat, .read])
  func `indexes nothing that was removed before the watch began`(call: SystemCall) throws {
    if call == .read {
      let earlier = try open()
      try earlier.disk.store([1], forKey: "k")
      try earlier.close()
    }
    let cache = try open()
    let (gate, done) = (Gate(), Gate())
    done.open()
    // After a store has given the file its name, or a read has asked for its status.
    scene.faults.plan(.before { gate.pass() }, for: call)
    try startThread {
      do {
        if call == .read {
          _ = try cache.disk.value(forKey: "k")
        } else {
          try cache.disk.store([1], forKey: "k")
        }
      } catch {
        Issue.record(error)
      }
      done.pass()
    }
    gate.waitUntilReached()
    try FileManager.default.removeItem(atPath: scene.file("k"))
    // Watches and scans.
    #expect(try cache.disk.count() == 0)
    gate.open()
    done.waitUntilReached()
    #expect(try cache.disk.count() == 0)
    try cache.close()
  }

  @Test func `looks at the limits again for a file that took a name while a removal held it`()
    throws
  {
    let cache = try open {
      $0.coherence = .none
      $0.durability = .durable
      $0.countLimit = 1
    }
    _ = try cache.disk.count()
    try cache.store("old", forKey: "k")
    try cache.flush()
    // After the removal is noted.
    let plant: @Sendable () -> Void = { [scene] in
      do {
        try scene.plant([1], named: scene.name("k").text)
      } catch {
        Issue.record(error)
      }
      hear([.movedTo], cache)
    }
    try cache.disk.store([1], forKey: "other")
    cache.disk.engine.finishPurge()
    let purges = cache.disk.statistics.purges
    scene.faults.plan(.before(plant), for: .fsync)
    _ = try cache.disk.remove(forKey: "k")
    #expect(try cache.disk.count() == 1 && cache.disk.statistics.purges == purges + 1)
    try cache.close()
  }

  /// Asks whether memory is current when it is being told.
  private final class Listener: EngineObserver {
    let engine: DiskEngine
    let answers = Counter()
    /// Calls by the watcher's thread, which may be quicker. Memory is told by it then, and what
    /// this thread tells is a repetition.
    let repeated = Counter()
    let thread = ThreadIdentity.current

    init(_ engine: DiskEngine) { self.engine = engine }

    func hear(of change: DiskChange) {
      guard case .filesChanged = change else { return }
      guard thread == .current else { return repeated.add() }
      if engine.catchUp(), repeated.value == 0 { answers.add() }
    }
  }

  @Test(arguments: ["cp $FILE copy; mv copy $FILE", "rm $FILE"])
  func `keeps memory from being current until it is told`(script: String) throws {
    let cache = try open { $0.coherence = .events }
    try cache.store("old", forKey: "k")
    let engine = cache.disk.engine
    engine.startWatching()
    #expect(engine.catchUp())
    let listener = Listener(engine)
    engine.observers.add(listener)
    try Shell.run(script, in: scene.path, ["FILE": scene.name("k").text])
    _ = try cache.disk.value(forKey: "k")
    #expect(listener.answers.value == 0 && engine.catchUp())
    engine.observers.remove(ObjectIdentifier(listener))
    try cache.close()
  }

  @Test func `takes a value from memory that a limit has evicted, although it left nothing`() throws
  {
    let cache = try open { $0.coherence = .none }
    try cache.store("old", forKey: "k")
    let engine = cache.disk.engine
    var plan = TrimPlan(now: scene.clock.now, protected: nil)
    plan.maximumCount = 0
    engine.evict(EvictionRun(plan))
    // The cache's own removal, and then a neighbour's store and removal.
    hear([.removed], cache)
    #expect(try cache.tier(forKey: "k") == .memory)
    hear([.movedTo, .removed], cache)
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }
}
