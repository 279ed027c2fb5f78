import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory

@Suite(.watched)
struct `Single flight` {
  let directory: TemporaryDirectory
  let cache: Cache<String>

  init() throws {
    directory = try TemporaryDirectory()
    var configuration = CacheConfiguration()
    // An event may drop from memory what was stored just before.
    configuration.disk.coherence = .none
    cache = try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
  }
}

extension `Single flight` {
  /// Starts a load that returns a value when a gate opens, and waits until it runs.
  private func load(_ value: String, heldBy gate: AsyncGate) async -> Task<String, any Error> {
    let (started, isStarted) = AsyncStream<Void>.makeStream()
    let task = Task { [cache] in
      try await cache.value(forKey: "key") {
        isStarted.yield()
        await gate.wait()
        return value
      }
    }
    for await _ in started { break }
    return task
  }

  @Test func `a thousand misses on one key make one load`() async throws {
    let counter = Counter()
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<1000 {
        group.addTask {
          try await cache.value(forKey: "key") {
            counter.add()
            for _ in 0..<100 { await Task.yield() }
            return "value"
          }
        }
      }
      for try await value in group { #expect(value == "value") }
    }
    #expect(counter.value == 1)
    #expect(try await cache.tier(forKey: "key") == .memory)
  }

  @Test func `a failed load is tried again by the next who asks`() async throws {
    struct Failure: Error {}
    await #expect(throws: Failure.self) {
      try await cache.value(forKey: "key") { throw Failure() }
    }
    #expect(try await cache.value(forKey: "key") { "second" } == "second")
  }

  @Test func `a load that asks for its own key fails at once`() async throws {
    let cache = cache
    let error = await #expect(throws: CacheError.self) {
      try await cache.value(forKey: "key") {
        try await cache.value(forKey: "key") { "inner" }
      }
    }
    #expect(error?.code == .loadCycle)
  }

  @Test func `a task that a load does not wait for asks for its key out of the load`() async throws
  {
    let (cache, gate) = (cache, AsyncGate())
    let (tasks, began) = AsyncStream<Task<String, any Error>>.makeStream()
    let load = Task {
      try await cache.value(forKey: "key") {
        began.yield(
          Task {
            try await LoadContext.leaving { try await cache.value(forKey: "key") { "unused" } }
          })
        began.yield(Task.detached { try await cache.value(forKey: "key") { "unused" } })
        began.yield(Task { try await cache.value(forKey: "key") { "unused" } })
        await gate.wait()
        return "value"
      }
    }
    var begun = tasks.makeAsyncIterator()
    let left = try #require(await begun.next())
    let detached = try #require(await begun.next())
    let inside = try #require(await begun.next())
    let error = await #expect(throws: CacheError.self) { try await inside.value }
    #expect(error?.code == .loadCycle)
    while cache.flights.waiterCount < 3 { await Task.yield() }
    gate.open()
    #expect(try await left.value == "value")
    #expect(try await detached.value == "value")
    #expect(try await load.value == "value")
  }

  @Test func `a cancelled caller of a load gets the same error at every step`() async throws {
    let cache = cache
    for staleness in [Duration.zero, .seconds(1)] {
      let options = LoadOptions.staleWhileRevalidating(staleness)
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await cache.value(forKey: "key", options: options) { "value" }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test func `a load may ask for another key, and a ring of loads fails at once`() async throws {
    let cache = cache
    let value = try await cache.value(forKey: "outer") {
      "outer of " + (try await cache.value(forKey: "inner") { "inner" })
    }
    #expect(value == "outer of inner")
    let error = await #expect(throws: CacheError.self) {
      try await cache.value(forKey: "a") {
        try await cache.value(forKey: "b") {
          try await cache.value(forKey: "a") { "never" }
        }
      }
    }
    #expect(error?.code == .loadCycle)
  }

  @Test func `a store during the load wins, and those who wait get the loaded value`() async throws
  {
    let cache = cache
    let value = try await cache.value(forKey: "key") {
      try cache.storeNow("stored", forKey: "key")
      return "loaded"
    }
    #expect(value == "loaded")
    #expect(try await cache.value(forKey: "key") == "stored")
  }

  @Test func `a removal during the load wins`() async throws {
    let cache = cache
    _ = try await cache.value(forKey: "key") {
      _ = try await cache.remove(forKey: "key")
      return "loaded"
    }
    #expect(try await cache.value(forKey: "key") == nil)
  }

  @Test func `who asks after a removal gets what was loaded after it`() async throws {
    let gate = AsyncGate()
    let cache = cache
    let early = await load("old", heldBy: gate)
    _ = try await cache.remove(forKey: "key")
    let late = Task { try await cache.value(forKey: "key") { "new" } }
    try await eventually("two waiters") { () async in cache.flights.waiterCount >= 2 }
    gate.open()
    #expect(try await early.value == "old")
    #expect(try await late.value == "new")
    #expect(try await cache.value(forKey: "key") == "new")
  }

  @Test func `two loads that wait for each other across two caches fail at once`() async throws {
    let other = try Cache(directory: directory.path + "/other", coder: .string)
    let both = Counter()
    @Sendable func bothRun() async throws {
      both.add()
      try await eventually("both loads to run") { () async in both.value >= 2 }
    }
    let cache = cache
    let first = Task {
      try await cache.value(forKey: "1") {
        try await bothRun()
        return try await other.value(forKey: "2") { "never" }
      }
    }
    let second = Task {
      try await other.value(forKey: "2") {
        try await bothRun()
        return try await cache.value(forKey: "1") { "never" }
      }
    }
    for result in [await first.result, await second.result] {
      let error = #expect(throws: CacheError.self) { try result.get() }
      #expect(error?.code == .loadCycle)
    }
    #expect(cache.flights.waiterCount == 0 && other.flights.waiterCount == 0)
  }

  @Test func `when all who wait are cancelled the load is cancelled`() async throws {
    let (started, isStarted) = AsyncStream<Void>.makeStream()
    let (ended, isEnded) = AsyncStream<Bool>.makeStream()
    let cache = cache
    let task = Task {
      try await cache.value(forKey: "key") {
        isStarted.yield()
        try await eventually("the cancellation") { () async in Task.isCancelled }
        isEnded.yield(true)
        return "late"
      }
    }
    for await _ in started { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    for await wasCancelled in ended {
      #expect(wasCancelled)
      break
    }
    #expect(try await cache.value(forKey: "key") { "fresh" } == "fresh")
  }

  @Test func `a cancelled task does not cancel the load of the others`() async throws {
    let gate = AsyncGate()
    let cache = cache
    let first = await load("value", heldBy: gate)
    let second = Task { try await cache.value(forKey: "key") { "unused" } }
    try await eventually("two waiters") { () async in cache.flights.waiterCount >= 2 }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.open()
    #expect(try await second.value == "value")
  }
}

/// A gate that tasks wait at until it is opened.
final class AsyncGate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream()
  }

  func wait() async {
    for await _ in stream {}
  }

  func open() { continuation.finish() }
}

extension Cache {
  /// Stores synchronously, under a name that an asynchronous context does not overload.
  func storeNow(_ value: Value, forKey key: String, expiration: Expiration? = nil) throws {
    try store(value, forKey: key, expiration: expiration)
  }
}
