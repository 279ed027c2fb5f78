import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory

@Suite(.watched)
struct `Loading with options` {
  let directory: TemporaryDirectory
  let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
  let cache: Cache<String>

  struct Failure: Error, Equatable {
    let number: Int
  }

  init() throws {
    directory = try TemporaryDirectory()
    var configuration = CacheConfiguration()
    configuration.disk.clock = clock.wallClock
    configuration.disk.expiredGrace = .seconds(60)
    cache = try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
  }
}

extension `Loading with options` {
  @Test func `a load in a cache that only reads is not stored, and no failure`() async throws {
    var configuration = cache.configuration
    configuration.disk.mode = .readOnly
    let reader = try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
    #expect(try await reader.value(forKey: "key") { "loaded" } == "loaded")
    #expect(reader.statistics.disk.upkeepFailures == [:])
    #expect(reader.statistics.loads.unstored == 0)
  }

  @Test(arguments: [
    LoadOptions.staleIfFailing(.seconds(90)), .staleWhileRevalidating(.seconds(90)),
  ])
  func `a load that may serve what has expired keeps sweeps from it`(options: LoadOptions)
    async throws
  {
    _ = try await cache.value(forKey: "key", expiration: .seconds(10), options: options) { "old" }
    try cache.storeNow("other", forKey: "other", expiration: .seconds(10))
    #expect(try await cache.disk.count() == 2)
    cache.memory.removeAll()
    clock.advance(by: .seconds(99))
    cache.disk.engine.sweep()
    let value = try await cache.value(forKey: "key", options: options) { throw Failure(number: 1) }
    #expect(value == "old")
    clock.advance(by: .seconds(3))
    cache.disk.engine.sweep()
    #expect(try await cache.disk.count() == 0)
  }

  @Test func `a load that asks for a year keeps sweeps from no more than a day`() async throws {
    let options = LoadOptions.staleIfFailing(.seconds(31_536_000))
    try cache.storeNow("other", forKey: "other", expiration: .seconds(1))
    _ = try await cache.value(forKey: "key", expiration: .seconds(1), options: options) { "value" }
    #expect(try await cache.disk.count() == 2)
    clock.advance(by: .seconds(2 * 86_400))
    cache.disk.engine.sweep()
    #expect(try await cache.disk.count() == 0)
  }

  @Test func `an expired value is served while one task loads a fresh one`() async throws {
    let options = LoadOptions.staleWhileRevalidating(.seconds(30))
    try cache.storeNow("old", forKey: "key", expiration: .seconds(10))
    clock.advance(by: .seconds(20))
    let gate = AsyncGate()
    let loads = Counter()
    for _ in 0..<3 {
      let value = try await cache.value(forKey: "key", options: options) {
        loads.add()
        await gate.wait()
        return "new"
      }
      #expect(value == "old")
    }
    gate.open()
    try await eventually("the fresh value") { try await cache.value(forKey: "key") != nil }
    #expect(try await cache.value(forKey: "key") == "new")
    #expect(loads.value == 1)
    #expect(cache.statistics.loads.servedStale == 3)
  }

  /// Serves an expired value, and starts a load that waits for the gate.
  private func beginRefresh(heldBy gate: AsyncGate) async throws {
    try cache.storeNow("old", forKey: "key", expiration: .seconds(10))
    clock.advance(by: .seconds(20))
    let options = LoadOptions.staleWhileRevalidating(.seconds(30))
    let value = try await cache.value(forKey: "key", options: options) {
      await gate.wait()
      return "late"
    }
    #expect(value == "old")
  }

  private func waitForCallers(_ count: Int) async {
    while cache.flights.waiterCount != count { await Task.yield() }
  }

  @Test func `a refresh that hangs ends with the last caller who waits for it`() async throws {
    let (gate, cache) = (AsyncGate(), cache)
    try await beginRefresh(heldBy: gate)
    let impatient = Task { try await cache.value(forKey: "key") { "unused" } }
    await waitForCallers(1)
    impatient.cancel()
    await #expect(throws: CancellationError.self) { try await impatient.value }
    let next = Task { try await cache.value(forKey: "key") { "quick" } }
    while cache.statistics.loads.started < 2 && cache.statistics.loads.joined < 2 {
      await Task.yield()
    }
    gate.open()
    #expect(try await next.value == "quick")
    #expect(try await cache.value(forKey: "key") == "quick")
  }

  @Test(arguments: ["stored", "removed", "all removed"])
  func `a refresh that hangs holds up nobody who comes after a change of its key`(
    change: String
  ) async throws {
    let (gate, cache) = (AsyncGate(), cache)
    try await beginRefresh(heldBy: gate)
    switch change {
    case "stored": try cache.storeNow("expired", forKey: "key", expiration: .expired)
    case "removed": try await cache.remove(forKey: "key")
    default: try await cache.removeAll()
    }
    let next = Task { try await cache.value(forKey: "key") { "quick" } }
    while cache.statistics.loads.started < 2 && cache.statistics.loads.joined < 1 {
      await Task.yield()
    }
    #expect(cache.statistics.loads.joined == 0)
    if cache.statistics.loads.joined > 0 { gate.open() }
    #expect(try await next.value == "quick")
    gate.open()
    #expect(try await cache.value(forKey: "key") == "quick")
  }

  @Test func `a refresh that takes too long is given up by the next who asks`() async throws {
    let (gate, cache) = (AsyncGate(), cache)
    try await beginRefresh(heldBy: gate)
    let patient = Task { try await cache.value(forKey: "key") { "patient's own" } }
    await waitForCallers(1)
    clock.advance(by: .seconds(59))
    let second = Task { try await cache.value(forKey: "key") { "second's own" } }
    await waitForCallers(2)
    #expect(cache.statistics.loads.started == 1)
    clock.advance(by: .seconds(1))
    let third = Task { try await cache.value(forKey: "key") { "third's own" } }
    while cache.statistics.loads.started == 1 && cache.flights.waiterCount < 3 {
      await Task.yield()
    }
    gate.open()
    let values = Set([try await patient.value, try await second.value, try await third.value])
    #expect(values.count == 1 && !values.contains("late"))
    #expect(try await cache.value(forKey: "key").map { values.contains($0) } == true)
  }

  @Test func `a refresh that hangs is given up where the clock is set back`() async throws {
    let (gate, cache, began) = (AsyncGate(), cache, Counter())
    try cache.storeNow("old", forKey: "key", expiration: .seconds(10))
    clock.advance(by: .seconds(20))
    let options = LoadOptions.staleWhileRevalidating(.seconds(30))
    let stale = try await cache.value(forKey: "key", options: options) {
      began.add()
      await gate.wait()
      return "late"
    }
    #expect(stale == "old")
    while began.value == 0 { await Task.yield() }
    clock.advance(by: .seconds(-3_600))
    let next = Task { try await cache.value(forKey: "key", options: .reload) { "quick" } }
    while cache.statistics.loads.started < 2 && cache.statistics.loads.joined < 1 {
      await Task.yield()
    }
    gate.open()
    #expect(try await next.value == "quick")
  }

  @Test func `a value that expired too long ago is not served`() async throws {
    let options = LoadOptions.staleWhileRevalidating(.seconds(30))
    try cache.storeNow("old", forKey: "key", expiration: .seconds(10))
    clock.advance(by: .seconds(41))
    #expect(try await cache.value(forKey: "key", options: options) { "new" } == "new")
  }

  @Test func `a sweep spares what expired within the grace`() async throws {
    try cache.storeNow("old", forKey: "key", expiration: .seconds(10))
    _ = try await cache.disk.count()
    clock.advance(by: .seconds(69))
    cache.disk.engine.sweep()
    #expect(try await cache.disk.count() == 1)
    clock.advance(by: .seconds(1))
    cache.disk.engine.sweep()
    #expect(try await cache.disk.count() == 0)
  }

  @Test func `a failure is kept for as long as the options say`() async throws {
    let options = LoadOptions.keepingFailures(for: .seconds(5))
    let loads = Counter()
    func load() async throws -> String {
      try await cache.value(forKey: "key", options: options) {
        loads.add()
        throw Failure(number: loads.value)
      }
    }
    for _ in 0..<3 {
      await #expect(throws: Failure(number: 1)) { try await load() }
    }
    clock.advance(by: .seconds(5))
    await #expect(throws: Failure(number: 2)) { try await load() }
    #expect(cache.statistics.loads.servedFailures == 2)
  }

  @Test func `a failure is kept for as long as any caller says that waits for the load`()
    async throws
  {
    let (cache, loads) = (cache, Counter())
    let (started, isStarted) = AsyncStream<Void>.makeStream()
    let (ended, end) = AsyncStream<Void>.makeStream()
    @Sendable func load(_ options: LoadOptions) async throws -> String {
      try await cache.value(forKey: "key", options: options) {
        loads.add()
        isStarted.yield()
        for await _ in ended { break }
        throw Failure(number: 1)
      }
    }
    let options = LoadOptions.keepingFailures(for: .seconds(5))
    let first = Task { try await load([]) }
    for await _ in started { break }
    let second = Task { try await load(options) }
    try await eventually("two to wait") { () async in cache.flights.waiterCount == 2 }
    end.finish()
    for task in [first, second] {
      await #expect(throws: Failure(number: 1)) { try await task.value }
    }
    await #expect(throws: Failure(number: 1)) { try await load(options) }
    #expect(loads.value == 1)
  }

  @Test func `a failure is kept no longer where the clock is set back`() async throws {
    let options = LoadOptions.keepingFailures(for: .seconds(5))
    let loads = Counter()
    for number in [1, 2] {
      await #expect(throws: Failure(number: number)) {
        try await cache.value(forKey: "key", options: options) {
          loads.add()
          throw Failure(number: loads.value)
        }
      }
      clock.advance(by: .seconds(-3_600))
    }
  }

  @Test func `a load that was given up is no failure of the source`() async throws {
    let options = LoadOptions.keepingFailures(for: .seconds(60))
    let (started, isStarted) = AsyncStream<Void>.makeStream()
    let cache = cache
    let task = Task {
      try await cache.value(forKey: "key", options: options) {
        isStarted.yield()
        try await eventually("the cancellation") { () async in Task.isCancelled }
        throw Failure(number: 1)
      }
    }
    for await _ in started { break }
    task.cancel()
    _ = await task.result
    try await eventually("a failed load") { () async in cache.statistics.loads.failed > 0 }
    #expect(try await cache.value(forKey: "key", options: options) { "fresh" } == "fresh")
  }

  @Test func `a load that throws a cancellation of its own is no failure of the source`()
    async throws
  {
    var options = LoadOptions.keepingFailures(for: .seconds(60))
    options.staleIfFailing = .seconds(60)
    try cache.storeNow("old", forKey: "key", expiration: .seconds(10))
    clock.advance(by: .seconds(15))
    await #expect(throws: CancellationError.self) {
      try await cache.value(forKey: "key", options: options) { throw CancellationError() }
    }
    #expect(try await cache.value(forKey: "key", options: options) { "new" } == "new")
    #expect(cache.statistics.loads.servedStale == 0)
  }

  @Test func `a cycle of loads is no failure of the source`() async throws {
    let (cache, options) = (cache, LoadOptions.keepingFailures(for: .seconds(60)))
    let error = await #expect(throws: CacheError.self) {
      try await cache.value(forKey: "a", options: options) {
        try await cache.value(forKey: "b", options: options) {
          try await cache.value(forKey: "a", options: options) { "never" }
        }
      }
    }
    #expect(error?.code == .loadCycle)
    #expect(try await cache.value(forKey: "b", options: options) { "b" } == "b")
    #expect(try await cache.value(forKey: "a", options: options) { "a" } == "a")
  }

  @Test func `a valid value instead of the error of a forced load is not counted as stale`()
    async throws
  {
    try await cache.store("valid", forKey: "key")
    let options: LoadOptions = [.reload, .staleIfFailing(.seconds(60))]
    let value = try await cache.value(forKey: "key", options: options) {
      throw Failure(number: 1)
    }
    #expect(value == "valid")
    #expect(cache.statistics.loads.servedStale == 0)
  }

  @Test func `a source that fails is not asked again for an expired value`() async throws {
    let options: LoadOptions = [
      .staleWhileRevalidating(.seconds(30)), .keepingFailures(for: .seconds(5)),
    ]
    try cache.storeNow("old", forKey: "key", expiration: .seconds(10))
    clock.advance(by: .seconds(20))
    let loads = Counter()
    for _ in 0..<3 {
      let value = try await cache.value(forKey: "key", options: options) {
        loads.add()
        throw Failure(number: 1)
      }
      #expect(value == "old")
      try await eventually("a failed load") { () async in cache.statistics.loads.failed > 0 }
    }
    #expect(loads.value == 1)
  }

  @Test func `a store ends the failure`() async throws {
    let options = LoadOptions.keepingFailures(for: .seconds(5))
    await #expect(throws: Failure.self) {
      try await cache.value(forKey: "key", options: options) { throw Failure(number: 1) }
    }
    try cache.storeNow("value", forKey: "key")
    _ = try await cache.remove(forKey: "key")
    #expect(try await cache.value(forKey: "key", options: options) { "loaded" } == "loaded")
  }

  @Test(arguments: [
    Loaded<String>.notModified(expiration: .seconds(1)), .notKept("new"), .value("unstored"),
  ])
  func `a load that succeeds ends the failure, also if it stores nothing`(loaded: Loaded<String>)
    async throws
  {
    let options = LoadOptions.keepingFailures(for: .seconds(600))
    try cache.storeNow("old", forKey: "key", expiration: .seconds(10))
    clock.advance(by: .seconds(15))
    var configuration = cache.configuration
    if case .value = loaded { configuration.disk.mode = .readOnly }
    let cache = try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
    await #expect(throws: Failure.self) {
      try await cache.value(forKey: "key", options: options) { throw Failure(number: 1) }
    }
    _ = try await cache.value(forKey: "key", options: .reload) { _ in loaded }
    clock.advance(by: .seconds(5))
    #expect(try await cache.value(forKey: "key", options: options) { "fresh" } == "fresh")
  }

  @Test func `removing everything ends all failures`() async throws {
    let options = LoadOptions.keepingFailures(for: .seconds(5))
    await #expect(throws: Failure.self) {
      try await cache.value(forKey: "key", options: options) { throw Failure(number: 1) }
    }
    _ = try await cache.removeAll()
    #expect(try await cache.value(forKey: "key", options: options) { "loaded" } == "loaded")
  }

  @Test func `a failure is forgotten when entries are removed by choice`() async throws {
    let (options, loads) = (LoadOptions.keepingFailures(for: .seconds(60)), Counter())
    try await cache.store("value", forKey: "other")
    for number in 1...2 {
      await #expect(throws: Failure(number: number)) {
        try await cache.value(forKey: "key", options: options) {
          loads.add()
          throw Failure(number: loads.value)
        }
      }
      _ = try await cache.removeAll { _ in true }
    }
  }

  @Test func `failures are bounded in number`() {
    var table = FailureTable()
    func count(_ table: FailureTable) -> Int {
      var table = table
      return table.removeAll().count
    }
    let start = Timestamp(seconds: 0)
    for number in 0..<2000 {
      table.add(
        Failure(number: number), for: CacheKey("\(number)"), from: start,
        until: start.adding(seconds: Int64(number) + 1))
    }
    #expect(count(table) == FailureTable.countLimit)
    #expect(table.error(for: "0", at: start) == nil)
    #expect(table.error(for: "1999", at: start) as? Failure == Failure(number: 1999))
    // The key is kept already, so no other makes room.
    table.add(Failure(number: 1), for: "1999", from: start, until: start.adding(seconds: 3000))
    #expect(count(table) == FailureTable.countLimit)
    #expect(table.error(for: "1000", at: start) as? Failure == Failure(number: 1000))
  }
}
