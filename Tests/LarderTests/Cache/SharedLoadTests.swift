import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Loads that several processes share. Each cache has an engine of its own, as in a process of its
/// own, and so has each its own open file of the tag.
@Suite(.watched)
struct `Loads that processes share` {
  let scene: DiskScene
  struct Failure: Error, Equatable {}

  init() throws { scene = try DiskScene() }
}

extension `Loads that processes share` {
  private func open(
    isAlone: Bool = true, _ change: (inout CacheConfiguration) -> Void = { _ in }
  ) throws -> Cache<String> {
    let cache = try scene.open(.string) { configuration in
      configuration.singleFlight = .directory
      configuration.disk.coherence = .events
      // A busy machine may take long.
      configuration.disk.longestTurn = .seconds(3_600)
      change(&configuration)
    }
    // The next opener does not find the engine.
    if isAlone { EngineRegistry.remove(cache.disk.engine.location) }
    if cache.disk.followsNeighbours {
      cache.disk.engine.startWatching()
      try #require(cache.disk.engine.hasEvents)
    }
    return cache
  }

  /// Expects that one cache waits for the load of another and gets its value. Closes both.
  private func expectShared(_ a: Cache<String>, _ b: Cache<String>) async throws {
    let source = Source("first")
    let first = try await start(a, source)
    let second = try await startWaiting(b)
    source.open()
    #expect(try await [first.value, second.value] == ["first", "first"])
    #expect(b.statistics.loads.unshared == 0)
    for cache in [a, b] { try await cache.close() }
  }

  /// Stops the ticks of a cache whose loads do not wait yet, so that only events wake them.
  private func stopTicks(_ cache: Cache<String>) {
    _ = cache.disk.engine.turns.withLock { $0.planTick(1...1, isFirst: true) }
  }

  /// A load that goes on until it is opened, and also if it is cancelled.
  private final class Source: Sendable {
    private let continuation = Mutex<CheckedContinuation<Void, Never>?>(nil)
    private let isOpen = Atomic<Bool>(false)
    let count = Counter()
    let value: String

    init(_ value: String) { self.value = value }

    func load() async -> String {
      count.add()
      await withCheckedContinuation { waiter in
        continuation.withLock { $0 = waiter }
        if isOpen.load(ordering: .sequentiallyConsistent) { open() }
      }
      return value
    }

    func open() {
      isOpen.store(true, ordering: .sequentiallyConsistent)
      continuation.withLock { waiter in
        defer { waiter = nil }
        return waiter
      }?.resume()
    }
  }

  /// Starts a load, and returns when it runs.
  private func start(
    _ cache: Cache<String>, _ source: Source, _ key: String = "k", options: LoadOptions = []
  ) async throws -> Task<String, any Error> {
    let task = Task {
      try await cache.value(forKey: key, options: options) { await source.load() }
    }
    try await eventually("a load to run") { () async in source.count.value > 0 }
    return task
  }

  /// Starts a load, and returns when it waits for another process.
  private func startWaiting(
    _ cache: Cache<String>, _ key: String = "k", options: LoadOptions = [],
    _ load: @escaping @Sendable () async throws -> String = { "second" }
  ) async throws -> Task<String, any Error> {
    let task = Task { try await cache.value(forKey: key, options: options) { try await load() } }
    try await eventually("a load to wait") { () async in
      cache.disk.engine.turns.withLock { $0.isAwaited }
    }
    return task
  }

  @Test func `one loads, and the others get its value by an event`() async throws {
    let caches = try (0..<3).map { _ in try open() }
    let source = Source("first")
    let first = try await start(caches[0], source)
    caches.forEach(stopTicks)
    let others = try await [startWaiting(caches[1]), startWaiting(caches[2])]
    source.open()
    #expect(try await first.value == "first")
    for other in others { #expect(try await other.value == "first") }
    #expect(caches.map(\.statistics.loads.awaited) == [0, 1, 1])
    #expect(caches.map(\.statistics.loads.unshared) == [0, 0, 0])
    for cache in caches { try await cache.close() }
  }

  /// Starts a load of a file that is to be lent, without ticks, and returns when it waits.
  private func startWaitingForFile(_ cache: Cache<String>) async throws -> Task<Int, any Error> {
    stopTicks(cache)
    let task = Task {
      try await cache.withFile(forKey: "k", { $0.byteCount }) { try await $0.write([1]) }
    }
    try await eventually("a load to wait") { () async in
      cache.disk.engine.turns.withLock { $0.isAwaited }
    }
    return task
  }

  @Test func `one loads a file, and the others are lent it`() async throws {
    let (a, b, source) = (try open(), try open(), Source("first"))
    let first = Task {
      try await a.withFile(forKey: "k", { $0.byteCount }) { writer in
        try await writer.write(Array(await source.load().utf8))
      }
    }
    try await eventually("a load to run") { () async in source.count.value > 0 }
    let second = try await startWaitingForFile(b)
    source.open()
    #expect(try await [first.value, second.value] == [5, 5])
    try await a.close()
    try await b.close()
  }

  @Test func `a value and a file of a key in one process are loaded once`() async throws {
    let (cache, source) = (try open(), Source("first"))
    let first = try await start(cache, source)
    let second = try await startWaitingForFile(cache)
    source.open()
    #expect(try await first.value == "first")
    #expect(try await second.value == 5)
    try await cache.close()
  }

  @Test(arguments: [LoadOptions.singleFlight(.process), .reload, .memoryOnly])
  func `a call that does not share its load does not wait`(options: LoadOptions) async throws {
    let (a, b, source) = (try open(), try open(), Source("first"))
    let first = try await start(a, source)
    #expect(try await b.value(forKey: "k", options: options) { "second" } == "second")
    source.open()
    #expect(try await first.value == "first")
    #expect(b.statistics.loads.awaited == 0)
    try await a.close()
    try await b.close()
  }

  @Test func `a call alone can share its load`() async throws {
    let (a, source) = (try open(), Source("first"))
    let b = try open { $0.singleFlight = .process }
    let first = try await start(a, source)
    let second = try await startWaiting(b, options: .singleFlight(.directory))
    source.open()
    #expect(try await [first.value, second.value] == ["first", "first"])
    try await a.close()
    try await b.close()
  }

  @Test(arguments: [DiskCache.Mode.readOnly, .fixture])
  func `a cache that does not write shares no load`(mode: DiskCache.Mode) async throws {
    let (a, source) = (try open(), Source("first"))
    let b = try open { $0.disk.mode = mode }
    let first = try await start(a, source)
    #expect(try await b.value(forKey: "k") { "second" } == "second")
    source.open()
    #expect(try await first.value == "first")
    try await a.close()
    try await b.close()
  }

  @Test func `after a load that fails all who wait load at once`() async throws {
    let (gate, faults) = (Gate(), FaultInjector())
    let caches = [try open { $0.disk.faults = faults }, try open(), try open()]
    // The mark stays until then: after the locks of the turn and of the mark, and the unlocking.
    faults.plan(.before { gate.pass() }, for: .fcntl, at: 4)
    let (source, both) = (Source("unused"), Counter())
    let first = Task {
      try await caches[0].value(forKey: "k") { () async throws -> String in
        _ = await source.load()
        throw Failure()
      }
    }
    try await eventually("a load to run") { () async in source.count.value > 0 }
    let others = try await (1...2).asyncMap { number in
      try await startWaiting(caches[number]) {
        both.add()
        try await eventually("both loads to run") { () async in both.value == 2 }
        return "own"
      }
    }
    source.open()
    await #expect(throws: Failure.self) { try await first.value }
    for other in others { #expect(try await other.value == "own") }
    // The process itself as well, until the mark has ended.
    try FileManager.default.removeItem(atPath: caches[0].disk.path(forKey: "k"))
    #expect(try await caches[0].value(forKey: "k") { "again" } == "again")
    #expect(caches[0].statistics.loads.unshared == 1)
    gate.open()
    for cache in caches { try await cache.close() }
  }

  @Test(arguments: [true, false], [nil, Errno.invalidArgument])
  func `the mark of a load that published nothing ends`(
    isFailure: Bool, unlocking errno: Errno?
  ) async throws {
    let (gate, faults) = (Gate(), FaultInjector())
    let (a, b) = (try open { $0.disk.faults = faults }, try open())
    // After the two locks and the unlocking of the turn.
    if let errno { faults.plan(.errno(errno), for: .fcntl, at: 4, onwards: true) }
    if errno == nil { faults.plan(.before { gate.pass() }, for: .fcntl, at: 4) }
    _ = try? await a.value(
      forKey: "k",
      orRevalidate: { _ -> Loaded<String> in
        if isFailure { throw Failure() }
        return .notKept("unkept")
      })
    let byte = LoadTurn.byte(of: b.disk.subject("k").name) + 1
    let file = try LockableTag(in: b.disk.engine.location.handle)
    if let errno {
      try await eventually("the mark not to be ended") { () async in
        a.statistics.disk.upkeepFailures[errno] == 1
      }
      faults.reset()
    } else {
      gate.waitUntilReached()
      #expect(try file.file.lock(in: byte..<byte + 1)?.isShared == true)
      gate.open()
    }
    try await eventually("the mark to end") { () async throws in
      try file.file.lock(in: byte..<byte + 1) == nil
        && a.disk.engine.turns.withLock { $0.marked.isEmpty }
    }
    #expect(try await a.value(forKey: "k") { "value" } == "value")
    #expect(a.statistics.loads.unshared == 0)
    try await a.close()
    try await b.close()
  }

  @Test func `a turn whose mark cannot be set ends without one`() async throws {
    let cache = try open()
    // After the lock of the turn.
    scene.faults.plan(.errno(.invalidArgument), for: .fcntl, at: 2)
    await #expect(throws: Failure.self) {
      try await cache.value(forKey: "k") { throw Failure() }
    }
    let byte = LoadTurn.byte(of: cache.disk.subject("k").name)
    let tag = try LockableTag(in: cache.disk.engine.location.handle)
    #expect(try tag.file.lock(in: byte..<byte + 2) == nil)
    try await cache.close()
  }

  @Test func `after a load that is cancelled one of those who wait loads`() async throws {
    let caches = try (0..<3).map { _ in try open() }
    let (hanging, next) = (Source("unused"), Source("next"))
    let first = try await start(caches[0], hanging)
    caches.forEach(stopTicks)
    let others = try await (1...2).asyncMap { number in
      try await startWaiting(caches[number]) { await next.load() }
    }
    // Who cancels waits for no lock of the cache, and for no file.
    caches[0].disk.engine.turns.withLock { _ in first.cancel() }
    await #expect(throws: CancellationError.self) { try await first.value }
    try await eventually("the next load") { () async in next.count.value > 0 }
    next.open()
    for other in others { #expect(try await other.value == "next") }
    #expect(next.count.value == 1)
    // The turn of the load that hung is over, and its end ends no other one's.
    let last = Source("last")
    try await caches[0].remove(forKey: "k")
    let again = try await start(caches[0], last)
    hanging.open()
    last.open()
    #expect(try await again.value == "last")
    for cache in caches { try await cache.close() }
  }

  @Test(arguments: [DiskCache.Coherence.events, .none])
  func `after a process that was killed the next one loads`(
    coherence: DiskCache.Coherence
  ) async throws {
    let cache = try open { $0.disk.coherence = coherence }
    let (handle, byte) = (
      cache.disk.engine.location.handle, LoadTurn.byte(of: cache.disk.subject("k").name)
    )
    // The kernel does this with a process that is killed: it closes the file, whose locks end.
    var killed: LockableTag? = try LockableTag(in: handle)
    #expect(try killed?.file.setLock(.exclusive, bytes: byte, 2) == true)
    let task = try await startWaiting(cache)
    killed = nil
    #expect(try await task.value == "second")
    #expect(cache.statistics.loads.unshared == 0)
    try await cache.close()
  }

  @Test func `looks for what was published before the directory was watched`() async throws {
    let cache = try open { $0.disk.coherence = .none }
    let byte = LoadTurn.byte(of: cache.disk.subject("k").name)
    let wakeCounts = [false, true].map { isWatched in
      if isWatched { cache.disk.engine.startWatching() }
      return cache.disk.engine.turns.withLock { $0.wakeCount(of: byte) }
    }
    #expect(wakeCounts[0] < wakeCounts[1])
    try await cache.close()
  }

  @Test func `without events a value is found too`() async throws {
    let (a, source) = (try open(), Source("first"))
    let b = try open { $0.disk.coherence = .none }
    let first = try await start(a, source)
    let second = try await startWaiting(b)
    source.open()
    #expect(try await [first.value, second.value] == ["first", "first"])
    try await a.close()
    try await b.close()
  }

  @Test func `without events a value of a process that did not load it is found`() async throws {
    let (a, c, source) = (try open(), try open(), Source("first"))
    let b = try open { $0.disk.coherence = .none }
    let first = try await start(a, source)
    let second = try await startWaiting(b)
    try await c.store("stored", forKey: "k")
    #expect(try await second.value == "stored")
    source.open()
    #expect(try await first.value == "first")
    for cache in [a, b, c] { try await cache.close() }
  }

  @Test func `a load inside of another does not wait`() async throws {
    let (a, b, source) = (try open(), try open(), Source("first"))
    let first = try await start(a, source)
    let outer = try await b.value(forKey: "outer") {
      "outer of " + (try await b.value(forKey: "k") { "inner" })
    }
    #expect(outer == "outer of inner")
    #expect(b.statistics.loads.awaited == 0 && b.statistics.loads.unshared == 1)
    source.open()
    #expect(try await first.value == "first")
    try await a.close()
    try await b.close()
  }

  @Test func `a load that waits goes on once another load waits for it`() async throws {
    let (a, b, source) = (try open(), try open(), Source("first"))
    let first = try await start(a, source)
    let waiting = try await startWaiting(b) { "own" }
    let outer = try await b.value(forKey: "outer") {
      "outer of " + (try await b.value(forKey: "k") { "unused" })
    }
    #expect(outer == "outer of own")
    #expect(try await waiting.value == "own")
    source.open()
    #expect(try await first.value == "first")
    try await a.close()
    try await b.close()
  }

  @Test(arguments: [LoadOptions.reload, .memoryOnly, .singleFlight(.process)])
  func `a load that waits goes on once a call that shares none joins it`(
    options: LoadOptions
  ) async throws {
    let (a, b, source) = (try open(), try open(), Source("first"))
    let first = try await start(a, source)
    let waiting = try await startWaiting(b) { "own" }
    #expect(try await b.value(forKey: "k", options: options) { "unused" } == "own")
    #expect(try await waiting.value == "own")
    source.open()
    #expect(try await first.value == "first")
    try await a.close()
    try await b.close()
  }

  @Test func `an expired value is refreshed by one process`() async throws {
    let (a, b, source) = (try open(), try open(), Source("fresh"))
    try await a.store("stale", forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(20))
    let options = LoadOptions.staleWhileRevalidating(.seconds(60))
    #expect(
      try await a.value(forKey: "k", options: options) { await source.load() } == "stale")
    try await eventually("a refresh to run") { () async in source.count.value > 0 }
    #expect(try await b.value(forKey: "k", options: options) { "unused" } == "stale")
    try await eventually("a refresh to wait") { () async in
      b.disk.engine.turns.withLock { $0.isAwaited }
    }
    #expect(try await b.value(forKey: "k", options: options) { "unused" } == "stale")
    source.open()
    try await eventually("the fresh value") { () async throws in
      // A load that this starts would be another one.
      try await b.value(forKey: "k", options: [options, .cacheOnly]) { "unused" } == "fresh"
    }
    #expect(b.statistics.loads.started == 1)
    try await a.close()
    try await b.close()
  }

  enum Change: CaseIterable, Sendable {
    case removal, choice, variants, all, store
  }

  @Test(arguments: Change.allCases)
  func `a process waits for no load that began before its own change`(change: Change) async throws {
    let (a, b, source) = (try open(), try open(), Source("old"))
    let first = try await start(a, source)
    switch change {
    case .removal: _ = try await b.remove(forKey: "k")
    case .choice: _ = try await b.removeAll { _ in true }
    case .variants: _ = try await b.removeVariants(of: "k")
    case .all: _ = try await b.removeAll()
    case .store: _ = try await b.store("new", forKey: "k", expiration: .seconds(1))
    }
    scene.clock.advance(by: .seconds(2))
    #expect(try await b.value(forKey: "k") { "newer" } == "newer")
    #expect(b.statistics.loads.awaited == 0)
    source.open()
    #expect(try await first.value == "old")
    try await a.close()
    try await b.close()
  }

  @Test(arguments: [Change.removal, .all])
  func `nor for one that its own change has superseded, and shares the next`(
    change: Change
  ) async throws {
    let (sources, c) = ([Source("old"), Source("shared")], try open())
    let (a, b) = (try open(isAlone: false), try open(isAlone: false))
    #expect(a.disk.engine === b.disk.engine)
    let first = try await start(a, sources[0])
    if change == .all { _ = try await b.removeAll() } else { _ = try await b.remove(forKey: "k") }
    #expect(try await b.value(forKey: "k") { "new" } == "new")
    #expect(b.statistics.loads.awaited == 0)
    sources[0].open()
    #expect(try await first.value == "old")
    // Not a change by the process, which would be remembered.
    try await c.remove(forKey: "k")
    b.memory.removeAll()
    let other = try await start(c, sources[1])
    let second = try await startWaiting(b)
    sources[1].open()
    #expect(try await [other.value, second.value] == ["shared", "shared"])
    for cache in [a, b, c] { try await cache.close() }
  }

  @Test func `a cache gets the value that another one in its process has loaded`() async throws {
    let (a, b) = (try open(isAlone: false), try open(isAlone: false))
    stopTicks(a)
    try await expectShared(a, b)
  }

  @Test func `a process that has removed everything waits for no load of others`() async throws {
    let (a, b, c) = (try open(), try open(), try open())
    let byte = { (key: String) in LoadTurn.byte(of: b.disk.subject(key).name) }
    let keys = ["k", "other"].sorted { byte($0) > byte($1) }
    // The kernel has the locks of the first process first.
    let sources = [Source("old"), Source("old")]
    let first = try await start(a, sources[0], keys[0])
    let second = try await start(c, sources[1], keys[1])
    _ = try await b.removeAll()
    for key in keys { #expect(try await b.value(forKey: key) { "new" } == "new") }
    #expect(b.statistics.loads.awaited == 0)
    for source in sources { source.open() }
    #expect(try await [first.value, second.value] == ["old", "old"])
    for cache in [a, b, c] { try await cache.close() }
  }

  @Test(arguments: [FileLock.shared, .exclusive])
  func `a change waits for no program that has locked the whole tag`(
    lock: FileLock
  ) async throws {
    let cache = try open()
    #expect(try await cache.value(forKey: "k") { "value" } == "value")
    let tag = try LockableTag(in: cache.disk.engine.location.handle)
    #expect(try tag.file.setLock(lock, bytes: 0, 0))
    try await cache.store("stored", forKey: "k")
    #expect(try await cache.removeAll().removed == 1)
    if lock == .shared { #expect(try await cache.value(forKey: "k") { "own" } == "own") }
    try await cache.close()
  }

  @Test func `a process waits for a load that began after it removed everything`() async throws {
    let (a, b) = (try open(), try open())
    _ = try await b.removeAll()
    try await expectShared(a, b)
  }

  @Test func `a load that waits goes on when this process removes its key`() async throws {
    let (a, b, source) = (try open(), try open(), Source("old"))
    let first = try await start(a, source)
    stopTicks(b)
    let second = try await startWaiting(b)
    _ = try await b.remove(forKey: "k")
    #expect(try await second.value == "second")
    source.open()
    #expect(try await first.value == "old")
    try await a.close()
    try await b.close()
  }

  @Test func `a wait ends at its bound`() async throws {
    let (a, source) = (try open(), Source("first"))
    let b = try open { $0.disk.longestTurn = .milliseconds(50) }
    let first = try await start(a, source)
    #expect(try await b.value(forKey: "k") { "second" } == "second")
    #expect(b.statistics.loads.unshared == 1)
    source.open()
    #expect(try await first.value == "first")
    try await a.close()
    try await b.close()
  }

  @Test func `loads wait again when the one is over that was waited for too long`() async throws {
    let (a, source) = (try open(), Source("first"))
    let b = try open { $0.disk.longestTurn = .milliseconds(50) }
    let byte = LoadTurn.byte(of: b.disk.subject("k").name)
    let first = try await start(a, source)
    #expect(try await b.value(forKey: "k", options: .diskOnly) { "second" } == "second")
    #expect(b.disk.engine.turns.withLock { $0.bounds[byte] } != nil)
    // Refused once more, by a load that ends before this one does.
    try await b.remove(forKey: "k")
    let second = try await b.value(forKey: "k") {
      source.open()
      _ = try await first.value
      return "third"
    }
    #expect(second == "third" && b.disk.engine.turns.withLock { $0.bounds[byte] } == nil)
    #expect(b.statistics.loads.unshared == 2)
    try await a.close()
    try await b.close()
  }

  @Test func `a wait ends at its bound, also if nothing wakes it until long after`() async throws {
    let (a, source) = (try open(), Source("first"))
    // One that has passed at each wake.
    let b = try open { $0.disk.longestTurn = .nanoseconds(1) }
    let first = try await start(a, source)
    stopTicks(b)
    let second = Task { try await b.value(forKey: "k") { "second" } }
    try await eventually("the load to go alone") { () async in
      b.disk.engine.wakeTurns(looks: false)
      return b.statistics.loads.unshared == 1
    }
    #expect(try await second.value == "second")
    source.open()
    #expect(try await first.value == "first")
    try await a.close()
    try await b.close()
  }

  @Test func `a cancelled task leaves a wait at once, and its load does not run`() async throws {
    let (a, b, source, loads) = (try open(), try open(), Source("first"), Counter())
    let first = try await start(a, source)
    let second = try await startWaiting(b) {
      loads.add()
      return "second"
    }
    stopTicks(b)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    source.open()
    #expect(try await first.value == "first")
    try await eventually("the wait to end") { () async in
      b.statistics.loads.failed == 1
    }
    #expect(loads.value == 0)
    try await a.close()
    try await b.close()
  }

  @Test func `without the tag each process loads, and the reason is counted`() async throws {
    let (a, b, source) = (try open(), try open(), Source("first"))
    try FileManager.default.removeItem(atPath: "\(scene.path)/CACHEDIR.TAG")
    let first = try await start(a, source)
    #expect(try await b.value(forKey: "k") { "second" } == "second")
    source.open()
    #expect(try await first.value == "first")
    for cache in [a, b] {
      #expect(cache.statistics.loads.unshared == 1)
      #expect(cache.statistics.disk.upkeepFailures[.noSuchFile] == 1)
    }
    try await a.close()
    try await b.close()
  }

  @Test func `a tag that takes the place of another is locked instead`() async throws {
    let (a, b, source) = (try open(), try open(), Source("first"))
    for cache in [a, b] { _ = try await cache.value(forKey: "other") { "other" } }
    try Shell.run("cp CACHEDIR.TAG new && mv new CACHEDIR.TAG", in: scene.path, [:])
    let c = try open()
    let first = try await start(c, source)
    let others = try await [startWaiting(a), startWaiting(b)]
    source.open()
    #expect(try await first.value == "first")
    for other in others { #expect(try await other.value == "first") }
    for cache in [a, b, c] { try await cache.close() }
  }

  @Test func `a tag that a server does not know any more is opened again`() async throws {
    let cache = try open()
    #expect(try await cache.value(forKey: "k") { "value" } == "value")
    scene.faults.plan(.errno(.staleHandle), for: .fstat)
    #expect(try await cache.value(forKey: "other") { "other" } == "other")
    #expect(scene.faults.struckCount == 1)
    #expect(cache.statistics.loads.unshared == 0)
    try await cache.close()
  }

  @Test(arguments: [Errno.permissionDenied, .invalidArgument])
  func `a lock that cannot be had keeps no load`(errno: Errno) async throws {
    let cache = try open()
    scene.faults.plan(.errno(errno), for: .fcntl, onwards: true)
    #expect(try await cache.value(forKey: "k") { "value" } == "value")
    #expect(cache.statistics.loads.unshared == 1)
    #expect(cache.statistics.disk.upkeepFailures[errno] == 1)
    scene.faults.reset()
    try await cache.close()
  }

  @Test func `a loaded value is not written behind`() async throws {
    let (a, b, source) = (
      try open { $0.disk.writeBehindLimit = 1 << 20 }, try open(), Source("first")
    )
    let first = try await start(a, source)
    let second = try await startWaiting(b)
    source.open()
    #expect(try await [first.value, second.value] == ["first", "first"])
    #expect(a.statistics.loads.unshared == 0 && b.statistics.loads.unshared == 0)
    try await a.close()
    try await b.close()
  }

  @Test func `a load that waits ends when its cache is closed`() async throws {
    let (a, b, source) = (try open(), try open(), Source("first"))
    let first = try await start(a, source)
    let second = try await startWaiting(b)
    stopTicks(b)
    try await b.close()
    let error = await #expect(throws: CacheError.self) { try await second.value }
    #expect(error?.code == .closed)
    source.open()
    #expect(try await first.value == "first")
    try await a.close()
  }

  @Test func `a load that waits ends when its object is closed, of two in a process`() async throws
  {
    let (a, source) = (try open(), Source("first"))
    let (b, other) = (try open(isAlone: false), try open(isAlone: false))
    #expect(b.disk.engine === other.disk.engine)
    let first = try await start(a, source)
    stopTicks(b)
    let second = try await startWaiting(b)
    try await b.close()
    let error = await #expect(throws: CacheError.self) { try await second.value }
    #expect(error?.code == .closed)
    source.open()
    #expect(try await first.value == "first")
    for cache in [a, other] { try await cache.close() }
  }

  @Test func `a group that shares a cache may lock its tag`() throws {
    let cache = try scene.open { $0.sharesWithGroup = true }
    let path = "\(scene.path)/CACHEDIR.TAG"
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o664)
    try cache.close()
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(
    _ transform: (Element) async throws -> Result
  ) async throws -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
