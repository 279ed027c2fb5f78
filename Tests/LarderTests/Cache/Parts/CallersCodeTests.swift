import Glibc
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct `Code of the caller's` {}

extension `Code of the caller's` {
  @Test(arguments: CallerOperation.all, [nil, 1 << 20])
  func `may use the cache for the key that is being changed`(
    operation: CallerOperation, writeBehindLimit: Int?
  ) async throws {
    for code in CallersCode.allCases {
      let scene = try DiskScene()
      let caller = Caller(scene.clock)
      let cache = try scene.open(for: caller) { $0.disk.writeBehindLimit = writeBehindLimit }
      try await cache.store(caller.page([1]), forKey: "k")
      caller.arm(code, cache)
      try await operation.run(cache, caller)
      if operation.codes.contains(code) {
        try await eventually("\(code) to run") { () async in caller.runs.value > 0 }
      }
      caller.disarm()
      try await cache.close()
    }
  }

  @Test func `of each kind runs in an operation, and so does each closure of the interface`()
    throws
  {
    let codes = CallerOperation.all.reduce(into: Set()) { $0.formUnion($1.codes) }
    #expect(codes == Set(CallersCode.allCases))
    let names = Set(CallerOperation.all.map(\.name))
    for (closure, places) in PublicClosures.places {
      for place in places where !PublicClosures.elsewhere.contains(place) {
        #expect(names.contains(place), "\(closure)")
      }
    }
    #expect(try PublicClosures.declared() == Set(PublicClosures.places.keys))
  }

  @Test func `that is a clock is read before a name is taken, and not with it held`() throws {
    let scene = try DiskScene()
    let reads = Counter()
    let clock = scene.clock
    let cache = try scene.open(.bytes) {
      $0.disk.clock = WallClock {
        reads.add()
        return clock.now
      }
    }
    clock.advance(by: .seconds(9))
    cache.disk.engine.changing(cache.disk.subject("k").name) { _ in
      #expect(cache.disk.engine.heldNow == clock.now)
      let count = reads.value
      // So many that names which memory does not hold any more are forgotten.
      for number in 0..<8_000 {
        cache.keep([1], cache.disk.subject("\(number)"), byteCount: 1, until: .never) { true }
      }
      #expect(reads.value == count)
    }
    #expect(cache.memory.count == 8_000)
    try cache.close()
  }

  @Test func `may store behind while it reads the time of a store that fills the backlog`() throws {
    let scene = try DiskScene()
    let caller = Caller(scene.clock)
    let cache = try scene.open(for: caller) {
      $0.disk.writeBehindLimit = Backlog.cost(of: 1, "k", [])
    }
    caller.arm(.clock, cache)
    try cache.store(caller.page([1]), forKey: "k")
    #expect(caller.runs.value > 0)
    caller.disarm()
    try cache.close()
  }

  @Test func `that is a clock is not read while room is taken for a value that does not wait yet`()
    throws
  {
    let (scene, thread) = (try DiskScene(), ThreadIdentity.current)
    let (box, reads, early) = (Shared<DiskCache?>(nil), Counter(), Counter())
    let clock = scene.clock
    let cache = try scene.open {
      $0.writeBehindLimit = 1 << 20
      $0.clock = WallClock {
        if let cache = box.value, ThreadIdentity.current == thread {
          reads.add()
          let name = cache.subject("k").name
          let isTaken = cache.withBacklog { $0.cost > 0 && $0[name] == nil }
          if isTaken { early.add() }
        }
        return clock.now
      }
    }
    box.value = cache
    #expect(try cache.store([1], forKey: "k") == .pending)
    box.value = nil
    #expect(reads.value > 0 && early.value == 0)
    try cache.close()
  }

  @Test(arguments: [false, true])
  func `that is a clock may store while a value is written from a full backlog`(
    byFlush: Bool
  ) throws {
    let (scene, thread) = (try DiskScene(), ThreadIdentity.current)
    let (box, runs) = (Shared<DiskCache?>(nil), Counter())
    let clock = scene.clock
    let cache = try scene.open {
      $0.writeBehindLimit = Backlog.cost(of: 1, "k", [])
      $0.clock = WallClock {
        let isRight = (ThreadIdentity.current == thread) == byFlush
        if let cache = box.value, isRight, runs.value == 0 {
          runs.add()
          do { try cache.store([2], forKey: "l") } catch { Issue.record(error) }
        }
        return clock.now
      }
    }
    if byFlush { cache.blockWriter() } else { box.value = cache }
    #expect(try cache.store([1], forKey: "k") == .pending)
    box.value = cache
    try cache.flush()
    box.value = nil
    #expect(runs.value > 0 || !byFlush)
    #expect(try cache.value(forKey: "k") == [1])
    if runs.value > 0 { #expect(try cache.value(forKey: "l") == [2]) }
    try cache.close()
  }

  @Test func `a clock may open another directory while a cache is being opened`() throws {
    let (scene, other, opened) = (try DiskScene(), try DiskScene(), Counter())
    let clock = scene.clock
    let cache = try scene.open {
      $0.clock = WallClock {
        if opened.value == 0 {
          opened.add()
          do { try other.open().close() } catch { Issue.record(error) }
        }
        return clock.now
      }
    }
    #expect(opened.value == 1)
    try cache.close()
  }

  @Test func `a value leaves when the change of a name by another object is over`() throws {
    let scene = try DiskScene()
    let caller = Caller(scene.clock)
    let cache = try scene.open(for: caller)
    try cache.store(caller.page([1]), forKey: "k")
    let name = cache.disk.subject("k").name
    let engine = cache.disk.engine
    caller.arm(.deinitialiser, cache)
    engine.changing(name) { _ in
      cache.hear(of: .entryChanged(cache.disk.subject("k")))
      #expect(cache.memory.count == 0 && caller.runs.value == 0)
    }
    engine.observers.letGo()
    #expect(caller.runs.value > 0)
    caller.disarm()
    try cache.close()
  }

  @Test(arguments: [false, true])
  func `a cache that ends while it is told of a change releases values elsewhere`(
    hasLeft: Bool
  ) throws {
    let (scene, heard) = (try DiskScene(), Happening())
    let caller = Caller(scene.clock)
    let other = try scene.open(for: caller)
    let engine = other.disk.engine
    let ended = Shared<[Bool]>([])
    final class Held: Sendable {
      let onEnd: @Sendable () -> Void
      init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
      deinit { onEnd() }
    }
    let coder = Coder<Held>(encode: { _ in [1] }, decode: { _ in Held {} })
    let last = Shared<Cache<Held>?>(
      try scene.open(coder) { $0.disk = other.disk.configuration })
    let thread = ThreadIdentity.current
    try last.value?.store(
      Held {
        let isHere = ThreadIdentity.current == thread
        ended.change { $0.append(isHere) }
        heard.tell()
      }, forKey: "other")
    engine.observers.tell { observer in
      if hasLeft, let cache = observer as? Cache<Held> {
        cache.hear(of: .entryChanged(cache.disk.subject("other")))
      }
      last.value = nil
    }
    #expect(heard.wait { ended.value == [false] })
    try other.close()
  }
}

@Suite(.watched)
struct `A process without threads` {}

extension `A process without threads` {
  /// Gives threads stacks that no process can have, so that none can be started.
  private static func refuseThreads() { giveThreads(stacksOf: 1 << 47) }

  private static func giveThreads(stacksOf byteCount: Int = 8 << 20) {
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    unsafe pthread_attr_init(attributes)
    unsafe pthread_attr_setstacksize(attributes, byteCount)
    typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
    guard let symbol = unsafe dlsym(nil, "pthread_setattr_default_np") else { return }
    _ = unsafe unsafeBitCast(symbol, to: SetDefault.self)(attributes)
  }

  @Test func `runs a job once the name is free that the caller holds`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open()
      let (engine, name, ran) = (cache.engine, cache.subject("k").name, Counter())
      Self.refuseThreads()
      engine.runAside { engine.changing(name) { _ in ran.add() } }
      #expect(ran.value == 1)
      engine.changing(name) { _ in
        engine.runAside { engine.changing(name) { _ in ran.add() } }
        // A job with a delay runs nothing here either.
        engine.planDrain(within: .seconds(3600))
        #expect(ran.value == 1)
      }
      #expect(ran.value == 2)
      try cache.close()
    }
  }

  @Test func `releases elsewhere what it was told to, once there is a thread`() async {
    await #expect(processExitsWith: .success) {
      let (cache, ended, heard) = (MemoryCache<Int, ReleaseProbe>(), Counter(), Happening())
      // So that the timer has its thread.
      JobTimer.own.submit(after: .seconds(3_600), to: IOExecutor()) {}
      let probe = {
        ReleaseProbe {
          ended.add()
          heard.tell()
        }
      }
      cache.store(probe(), forKey: 1)
      Self.refuseThreads()
      cache.removeAll(.explicit, elsewhere: true)
      #expect(ended.value == 0)
      Self.giveThreads()
      #expect(heard.wait { ended.value == 1 })
    }
  }

  @Test func `runs what waits for a time as soon as it has a thread for anything`() async {
    await #expect(processExitsWith: .success) {
      let (ran, heard) = (Counter(), Happening())
      Self.refuseThreads()
      JobTimer.own.submit(after: .zero, to: IOExecutor()) {
        ran.add()
        heard.tell()
      }
      Self.giveThreads()
      IOExecutor().submit {}
      #expect(heard.wait { ran.value == 1 })
    }
  }

  @Test func `runs what was planned without one after the next use of the disk`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open { $0.pathCheckPause = .zero }
      let (ran, heard) = (Counter(), Happening())
      Self.refuseThreads()
      cache.engine.runLater(after: .zero) { _ in
        ran.add()
        heard.tell()
      }
      Self.giveThreads()
      #expect(try cache.value(forKey: "k") == nil)
      #expect(heard.wait { ran.value == 1 })
      try cache.close()
    }
  }

  @Test func `sweeps memory once a value is stored and there is a thread`() async {
    await #expect(processExitsWith: .success) {
      let (clock, heard) = (ManualClock(Timestamp(seconds: 1_000)), Happening())
      var configuration = MemoryCache<Int, Int>.Configuration()
      configuration.clock = clock.wallClock
      configuration.sweepInterval = .milliseconds(1)
      configuration.removalListener = { _, _, _ in heard.tell() }
      let cache = MemoryCache<Int, Int>(configuration)
      Self.refuseThreads()
      for key in 1...2 { cache.store(1, forKey: key, expiration: .seconds(10)) }
      clock.advance(by: .seconds(20))
      Self.giveThreads()
      cache.store(1, forKey: 3, expiration: .seconds(10))
      #expect(heard.wait { cache.statistics.removals[.expired, default: 0] == 2 })
      withExtendedLifetime(cache) {}
    }
  }

  @Test func `opens a directory again whose cache was dropped meanwhile`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      var dropped: DiskCache? = try scene.open()
      try dropped?.store([1], forKey: "k")
      Self.refuseThreads()
      dropped = nil
      let cache = try scene.open()
      #expect(try cache.value(forKey: "k") == [1])
      try cache.close()
    }
  }
}
