import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Changes by other processes in the directory of an open cache, which hears of them.
@Suite(.watched)
struct `A cache among neighbours` {
  let directory: TemporaryDirectory
  let faults = FaultInjector()
  let happening = Happening()

  init() throws {
    directory = try TemporaryDirectory()
  }
}

extension `A cache among neighbours` {
  private var path: String { directory.path + "/cache" }

  private func open(
    _ coherence: DiskCache.Coherence, _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> Cache<String> {
    var configuration = CacheConfiguration()
    configuration.disk.coherence = coherence
    configuration.disk.faults = faults
    change(&configuration.disk)
    return try Cache(directory: path, coder: .string, configuration: configuration)
  }

  /// Runs a script, as another process would; `$FILE` is the file of the key `k`.
  private func outside(_ script: String) throws {
    try Shell.run(script, in: path, ["FILE": DiskScene.name(of: Array("k".utf8)).description])
  }

  /// A complete store by a neighbour: written, stamped and renamed into place.
  private static let store = "printf new > t; touch -m -d '+1 day' t; mv t $FILE"

  @Test(arguments: [
    (store, "new" as String?), ("rm $FILE", nil), ("touch $FILE", nil), ("printf x >> $FILE", nil),
    ("mv $FILE elsewhere", nil), ("sed -i s/old/odd/ $FILE", nil),
    ("touch -m -d '+3 days' $FILE", "old"), ("touch -c -m -d '-1 hour' $FILE", nil),
    ("touch -a $FILE", "old"), ("cat $FILE", "old"),
  ])
  func `that is strict sees in memory what was done before the read`(
    script: String, value: String?
  ) throws {
    let cache = try open(.strict)
    try cache.store("old", forKey: "k")
    // Not while the event of the store itself is being followed.
    try expectInMemory("old", "k", cache)
    try outside(script)
    #expect(try cache.value(forKey: "k") == value)
    try cache.close()
  }

  @Test(arguments: [store, "rm $FILE", "touch $FILE", "touch -m -d '+3 days' $FILE"])
  func `drops from memory what others replaced, removed or stamped`(script: String) throws {
    let cache = try open(.events)
    try cache.store("old", forKey: "k")
    try cache.store("other", forKey: "other")
    try expectInMemory("other", "other", cache)
    try outside(script)
    // No thread announces it, so the wait polls every 10 ms, with a limit far beyond the promised
    // 50 ms.
    #expect(happening.wait { (try? cache.tier(forKey: "k")) != .memory })
    #expect(try cache.tier(forKey: "other") == .memory)
    try cache.close()
  }

  @Test func `drops a value that memory alone holds when its key is stored`() async throws {
    let cache = try open(.strict)
    let value = try await cache.value(forKey: "k", options: .memoryOnly) { "loaded" }
    #expect(value == "loaded")
    #expect(try await cache.tier(forKey: "k") == .memory)
    try outside(Self.store)
    #expect(try await cache.value(forKey: "k") == "new")
    try await cache.close()
  }

  @Test func `keeps a value in memory alone whose key was stored here just before`() async throws {
    let scene = try DiskScene()
    let cache = try scene.open(.string)
    // The events gather until a call reads them, because no thread waits for them.
    let engine = cache.disk.engine
    try engine.watching.open(engine)
    engine.watching.advance(to: .settled)
    engine.watching.complete(true)
    try await cache.store("old", forKey: "k")
    _ = try await cache.value(forKey: "k", options: [.memoryOnly, .reload]) { "loaded" }
    #expect(engine.catchUp())
    #expect(try await cache.tier(forKey: "k") == .memory)
    try await cache.close()
  }

  @Test func `keeps no value in memory alone if its key was stored before it was there`()
    async throws
  {
    let cache = try open(.strict) { $0.durability = .durable }
    try await cache.store("old", forKey: "k")
    #expect(try await cache.disk.count() == 1)
    let neighbour: @Sendable () -> Void = {
      do {
        try outside(Self.store)
        _ = cache.disk.engine.catchUp()
      } catch {
        Issue.record(error)
      }
    }
    let value = try await cache.value(forKey: "k", options: [.memoryOnly, .reload]) {
      // The directory is synchronised once the older value is removed.
      faults.plan(.before(neighbour), for: .fsync)
      return "loaded"
    }
    #expect(value == "loaded" && faults.struckCount == 1)
    #expect(try await cache.value(forKey: "k") == "new")
    try await cache.close()
  }

  // Without events, so that only the first scan brings what the neighbour has done.
  @Test func `drops a value that memory alone holds when the first scan meets its key`()
    async throws
  {
    faults.plan(.errno(.tooManyOpenFiles), for: .inotify)
    let cache = try open(.events)
    _ = try await cache.value(forKey: "k", options: .memoryOnly) { "loaded" }
    #expect(try await cache.tier(forKey: "k") == .memory)
    try outside(Self.store)
    #expect(try await cache.disk.count() == 1)
    #expect(try await cache.value(forKey: "k") == "new")
    try await cache.close()
  }

  @Test func `keeps no value in memory alone if the first scan met its key before`() async throws {
    faults.plan(.errno(.tooManyOpenFiles), for: .inotify)
    let cache = try open(.events) { $0.durability = .durable }
    let neighbour: @Sendable () -> Void = {
      do {
        try outside(Self.store)
        #expect(try cache.disk.count() == 1)
      } catch {
        Issue.record(error)
      }
    }
    _ = try await cache.value(forKey: "k", options: .memoryOnly) {
      // The directory is synchronised once the older value is removed.
      faults.plan(.before(neighbour), for: .fsync)
      return "loaded"
    }
    #expect(faults.struckCount == 2)
    #expect(try await cache.value(forKey: "k") == "new")
    try await cache.close()
  }

  /// Runs a script during the next read, as another process would, and follows the change.
  private func duringRead(
    of cache: Cache<String>, _ script: String, then body: @escaping @Sendable () throws -> Void
  ) {
    faults.plan(
      .before {
        do {
          try outside(script)
          try body()
          _ = cache.disk.engine.catchUp()
        } catch {
          Issue.record(error)
        }
      }, for: .read)
  }

  @Test(arguments: [DiskCache.Mode.shared, .readOnly])
  func `keeps nothing in memory that was removed while it was read for the first time`(
    mode: DiskCache.Mode
  ) throws {
    try open(.none).store("old", forKey: "k")
    let cache = try open(.strict) { $0.mode = mode }
    // The first read that memory can keep starts the watching, and the index does not know the
    // name.
    #expect(try cache.value(forKey: "other") == nil)
    duringRead(of: cache, "rm $FILE") {}
    #expect(try cache.value(forKey: "k") == "old")
    #expect(try cache.tier(forKey: "k") == nil)
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }

  @Test func `knows the newer of two files although the older was read to its end later`() throws {
    try open(.none).store("old", forKey: "k")
    let cache = try open(.strict)
    #expect(try cache.value(forKey: "other") == nil)
    let second = Shared<[UInt8]?>(nil)
    let (gate, reader) = (Gate(), pthread_self())
    // The watching thread is held, so that the second read is the first to hear of the change.
    faults.plan(
      .before { if pthread_self() != reader { gate.pass() } }, for: .fstatat, onwards: true)
    duringRead(of: cache, Self.store) {
      second.value = try cache.disk.value(forKey: "k")
      gate.open()
    }
    #expect(try cache.value(forKey: "k") == "old")
    #expect(second.value == Array("new".utf8))
    let engine = cache.disk.engine
    let name = DiskScene.name(of: Array("k".utf8))
    let inode = try engine.location.handle.status(of: name.fileName).inodeMark
    #expect(engine.withState { $0.catalog.index.entry(named: name)?.inode } == inode)
    #expect(try cache.value(forKey: "k") == "new")
    try cache.close()
  }

  @Test func `forgets what it cannot look at after something happened to it`() throws {
    let cache = try open(.strict)
    try cache.store("old", forKey: "k")
    #expect(try cache.value(forKey: "k") == "old")
    // Waits for the scan, which would meet the failure at any file.
    #expect(try cache.disk.count() == 1)
    // Planned before the store, because the watching thread may check at once.
    faults.plan(.errno(.ioError), for: .fstatat)
    try outside(Self.store)
    #expect(try cache.value(forKey: "k") == "new")
    #expect(cache.statistics.disk.upkeepFailures == [.ioError: 1])
    try cache.close()
  }

  // The failing call of the list of names is that of the scan that follows the failed look.
  @Test(arguments: [[SystemCall.fstatat], [.fstatat, .readdir]])
  func `counts what it could not look at when it happened`(failing: [SystemCall]) throws {
    let cache = try open(.events) { $0.rescanDelay = .milliseconds(20) }
    #expect(try cache.disk.count() == 0)
    for call in failing { faults.plan(.errno(.ioError), for: call) }
    try outside(Self.store)
    #expect(
      happening.wait { cache.statistics.disk.upkeepFailures == [.ioError: failing.count] })
    let name = DiskScene.name(of: Array("k".utf8))
    #expect(
      happening.wait { cache.disk.engine.withState { $0.catalog.index.contains(name) } })
    #expect(try cache.disk.count() == 1)
    try cache.close()
  }

  @Test func `scans once, although it begins to follow others for the scan`() throws {
    let cache = try open(.events)
    try cache.disk.store([1], forKey: "k")
    #expect(try cache.disk.count() == 1)
    #expect(
      cache.disk.engine.withState {
        $0.catalog.scans.number == 1 && !$0.catalog.scans.hasMissedChanges
      })
    try cache.close()
  }

  /// Returns a cache that has stored a value, whose large directory is about to be watched by
  /// another thread, which waits at a gate.
  private func openLarge(_ gate: Gate) throws -> Cache<String> {
    let cache = try open(.events) { $0.watchAsideByteCount = 0 }
    faults.plan(.before { gate.pass() }, for: .inotify)
    try cache.store("old", forKey: "k")
    gate.waitUntilReached()
    return cache
  }

  @Test func `keeps nothing in memory until another thread watches its large directory`() throws {
    let gate = Gate()
    let cache = try openLarge(gate)
    #expect(try cache.value(forKey: "k") == "old" && cache.tier(forKey: "k") == .disk)
    try outside(Self.store)
    gate.open()
    #expect(happening.wait { cache.disk.engine.isWatchSettled })
    #expect(try cache.value(forKey: "k") == "new")
    // Not while the events of the name are being followed.
    try expectInMemory("new", "k", cache)
    try cache.close()
  }

  @Test func `closes before another thread has begun to watch its large directory`() throws {
    let gate = Gate()
    var cache: Cache<String>? = try openLarge(gate)
    weak let engine = cache?.disk.engine
    try cache?.close()
    cache = nil
    #expect(engine?.hasEvents == false)
    gate.open()
    // The other thread goes on and finds the end.
    #expect(happening.wait { engine == nil })
  }

  @Test func `keeps in memory what it stored, used and stamped itself`() throws {
    let cache = try open(.strict) { $0.recencyGranularity = .seconds(60) }
    for number in 0..<50 { try cache.store("\(number)", forKey: "\(number)") }
    for number in 0..<50 { try expectInMemory("\(number)", "\(number)", cache) }
    for number in 0..<50 { try cache.store("\(number + 1)", forKey: "\(number)") }
    for number in 0..<50 { try expectInMemory("\(number + 1)", "\(number)", cache) }
    // Not if each was read from disk first.
    #expect(cache.statistics.memory.hits >= 50)
    try cache.close()
  }

  /// Expects that memory keeps a value, though not while the event of its store is being followed.
  private func expectInMemory(_ value: String, _ key: String, _ cache: Cache<String>) throws {
    try eventually("memory to keep the value") {
      try cache.value(forKey: key) == value && cache.tier(forKey: key) == .memory
    }
  }

  /// Returns a cache in which a store of the key `held` is held between its rename and its end.
  private func held(_ gate: Gate, _ stored: Counter) throws -> Cache<String> {
    let cache = try open(.strict) { $0.durability = .durable }
    try cache.store("old", forKey: "k")
    try cache.store("old", forKey: "held")
    faults.plan(.before { gate.pass() }, for: .fsync)
    try startThread {
      do {
        #expect(try cache.store("own", forKey: "held") == .stored)
      } catch {
        Issue.record(error)
      }
      stored.add()
      happening.tell()
    }
    gate.waitUntilReached()
    return cache
  }

  /// Follows other processes' changes in a new thread, and returns whether that ended.
  private func catchesUp(_ cache: Cache<String>) throws -> Bool {
    let followed = Counter()
    try startThread {
      _ = cache.disk.engine.catchUp()
      followed.add()
      happening.tell()
    }
    return happening.wait { followed.value == 1 }
  }

  @Test func `hears of other names while a store that waits for the disk holds one`() throws {
    let (gate, stored) = (Gate(), Counter())
    let cache = try held(gate, stored)
    // The event of the cache's own rename is in the queue.
    let isFree = try catchesUp(cache)
    #expect(isFree)
    try outside(Self.store)
    if isFree { #expect(try cache.value(forKey: "k") == "new") }
    gate.open()
    #expect(happening.wait { stored.value == 1 })
    // The event of this name was that of the cache's own store.
    #expect(try cache.tier(forKey: "held") == .memory)
    #expect(try cache.value(forKey: "held") == "own")
    try cache.close()
  }

  @Test func `does not wait for itself if it runs, while it acts, what found no thread`() throws {
    let cache = try open(.strict)
    try cache.store("own", forKey: "other")
    let (engine, answers) = (cache.disk.engine, Shared<[Bool]>([]))
    // The job that waits for events, run wherever a name is looked at: also by the thread that
    // looks because of an event, which is this one or the cache's own.
    faults.plan(
      .before {
        let isReading = engine.watching.readEvents(for: engine)
        answers.change { $0.append(isReading) }
      }, for: .fstatat, onwards: true)
    try outside(Self.store)
    #expect(try cache.value(forKey: "k") == "new")
    #expect(!answers.value.isEmpty && answers.value.allSatisfy(\.self))
    try cache.close()
  }

  @Test func `takes what was stored while a removal held the name for news when that ends`() throws
  {
    let cache = try open(.strict) { $0.durability = .durable }
    try cache.store("old", forKey: "k")
    let (gate, removed) = (Gate(), Counter())
    faults.plan(.before { gate.pass() }, for: .fsync)
    try startThread {
      do {
        #expect(try cache.remove(forKey: "k"))
      } catch {
        Issue.record(error)
      }
      removed.add()
      happening.tell()
    }
    gate.waitUntilReached()
    try outside(Self.store)
    #expect(try catchesUp(cache))
    gate.open()
    #expect(happening.wait { removed.value == 1 })
    let name = DiskScene.name(of: Array("k".utf8))
    #expect(cache.disk.engine.withState { $0.catalog.index.contains(name) })
    #expect(try cache.value(forKey: "k") == "new")
    try cache.close()
  }

  @Test(arguments: ["printf new > t; touch -m -d '+1 day' t; mv t $HELD", "rm $HELD"])
  func `takes what others did to a name that is held for news when its store ends`(
    script: String
  ) throws {
    let (gate, stored) = (Gate(), Counter())
    let cache = try held(gate, stored)
    let file = DiskScene.name(of: Array("held".utf8))
    try Shell.run(script, in: path, ["HELD": file.description])
    let isFree = try catchesUp(cache)
    #expect(isFree)
    let value = script.hasPrefix("rm") ? nil : "new"
    if isFree { #expect(try cache.value(forKey: "held") == value) }
    gate.open()
    #expect(happening.wait { stored.value == 1 })
    #expect(try cache.value(forKey: "held") == value)
    let isKnown = cache.disk.engine.withState { $0.catalog.index.contains(file) }
    #expect(isKnown == (value != nil))
    try cache.close()
  }

  @Test func `counts what others store and remove`() throws {
    let cache = try open(.events) { $0.sizeLimit = 1 << 20 }
    try cache.store("1", forKey: "k")
    #expect(try cache.disk.count() == 1)
    try outside(
      """
      for name in 0 1 2 3 4 5 6 7 8 9; do
        printf new > t; touch -m -d '+1 day' t; mv t 0000000000000000000000000000000$name
      done
      rm $FILE 00000000000000000000000000000003
      """)
    #expect(happening.wait { (try? cache.disk.totalSize()) == 27 })
    #expect(try cache.disk.count() == 9)
    try cache.close()
  }

  @Test func `follows a directory that was replaced`() throws {
    let cache = try open(.strict)
    try cache.store("old", forKey: "k")
    try outside("cd ..; mv cache gone; mkdir -m 700 cache")
    #expect(try cache.value(forKey: "k") == nil)
    try cache.store("newer", forKey: "k")
    try expectInMemory("newer", "k", cache)
    try outside("rm $FILE")
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }

  @Test func `forgets memory and scans once when events were lost`() throws {
    let cache = try open(.events)
    try cache.store("old", forKey: "k")
    _ = try cache.disk.count()
    // The first scan has told its count before it ends.
    cache.disk.engine.wait { !$0.catalog.scans.isOngoing ? () : nil }
    let scans = cache.disk.engine.withState(\.catalog.scans.number)
    var batch = EventBatch()
    batch.add(DirectoryEvent(watch: -1, kind: .overflow, name: nil), watch: 1)
    cache.disk.engine.act(on: batch)
    #expect(try cache.tier(forKey: "k") == .disk)
    cache.disk.engine.wait { !$0.catalog.scans.isOngoing ? () : nil }
    #expect(cache.disk.engine.withState(\.catalog.scans.number) == scans + 1)
    try cache.close()
  }

  @Test func `keeps nothing in memory that it was reading when events were lost`() throws {
    let cache = try open(.none) { $0.sizeLimit = nil }
    let engine = cache.disk.engine
    try cache.store("old", forKey: "k")
    cache.memory.removeAll()
    faults.plan(
      .before {
        do {
          try outside(Self.store)
        } catch {
          Issue.record(error)
        }
        var batch = EventBatch()
        batch.add(DirectoryEvent(watch: -1, kind: .overflow, name: nil), watch: 1)
        engine.act(on: batch)
      }, for: .read)
    #expect(try cache.value(forKey: "k") == "old")
    #expect(try cache.value(forKey: "k") == "new")
    faults.reset()
    try cache.close()
  }

  @Test(arguments: [1, 2])
  func `works without events where there are none to be had`(call: Int) throws {
    faults.plan(.errno(call == 1 ? .tooManyOpenFiles : .noSpace), for: .inotify, at: call)
    let cache = try open(.strict)
    try cache.store("old", forKey: "k")
    #expect(cache.statistics.disk.upkeepFailures.count == 1)
    #expect(try cache.value(forKey: "k") == "old")
    try outside(Self.store)
    #expect(try cache.value(forKey: "k") == "new")
    #expect(try cache.tier(forKey: "k") == .disk)
    try cache.close()
  }

  @Test func `that needs no news asks for none`() throws {
    let disk = try DiskCache(
      directory: path,
      configuration: {
        var configuration = DiskCache.Configuration(sizeLimit: nil)
        configuration.faults = faults
        return configuration
      }())
    try disk.store([1], forKey: "k")
    _ = try disk.value(forKey: "k")
    try disk.close()
    let deaf = try open(.none)
    try deaf.store("v", forKey: "k")
    _ = try deaf.disk.count()
    try deaf.close()
    let alone = try open(.events) { $0.mode = .exclusive }
    try alone.store("v", forKey: "k")
    try alone.close()
    #expect(faults.count(of: .inotify) == 0)
  }

  @Test func `hears of others although the first on the directory did not want to`() throws {
    let deaf = try open(.none)
    #expect(try deaf.disk.count() == 0)
    let cache = try open(.events)
    try cache.store("old", forKey: "k")
    try outside(Self.store)
    #expect(happening.wait { (try? cache.tier(forKey: "k")) != .memory })
    try outside("rm $FILE")
    #expect(happening.wait { (try? cache.disk.count()) == 0 })
    try deaf.close()
    try cache.close()
  }

  @Test func `that only reads and hears nothing comes back to the file after a while`() throws {
    let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
    try open(.none) { $0.clock = clock.wallClock }.store("old", forKey: "k")
    let cache = try open(.none) {
      $0.mode = .readOnly
      $0.clock = clock.wallClock
    }
    #expect(try cache.value(forKey: "k") == "old")
    try open(.none) { $0.clock = clock.wallClock }.store("new", forKey: "k")
    clock.advance(by: .seconds(61))
    #expect(try cache.value(forKey: "k") == "new")
  }

  @Test(arguments: [DiskCache.Coherence.events, .none])
  func `does not find in memory what was trimmed from its disk`(coherence: DiskCache.Coherence)
    throws
  {
    let cache = try open(coherence)
    try cache.store("v", forKey: "k")
    #expect(try cache.disk.trim(toCount: 0).removed == 1)
    #expect(try cache.tier(forKey: "k") == nil)
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }

  @Test func `that only reads hears of writers too`() throws {
    try open(.none).store("old", forKey: "k")
    let cache = try open(.strict) { $0.mode = .readOnly }
    #expect(try cache.value(forKey: "k") == "old")
    #expect(try cache.tier(forKey: "k") == .memory)
    try outside(Self.store)
    #expect(try cache.value(forKey: "k") == "new")
    try cache.close()
  }

  @Test func `leaves no descriptor and no thread behind`() async {
    await #expect(processExitsWith: .success) {
      let test = try `A cache among neighbours`()
      for _ in 0..<5 {
        let cache = try test.open(.events) { $0.sizeLimit = 1 << 20 }
        try cache.store("v", forKey: "k")
        _ = try cache.disk.count()
        #expect(OpenResources.descriptors(of: "inotify").count == 1)
        try cache.close()
        // The thread has ended its work, but may hold the queue for a moment longer.
        let isClosed = test.happening.wait { OpenResources.descriptors(of: "inotify").isEmpty }
        #expect(isClosed)
      }
    }
  }
}
