import Dispatch
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct DiskRemovalEventsTests {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension DiskRemovalEventsTests {
  private func cache() throws -> Cache<String> {
    var configuration = CacheConfiguration()
    configuration.disk.clock = scene.clock.wallClock
    configuration.disk.faults = scene.faults
    configuration.disk.sizeLimit = nil
    return try Cache(directory: scene.path, coder: .string, configuration: configuration)
  }

  /// A call that removes the value of `a` and of its variant.
  enum Choice: String, CaseIterable {
    case key, value, chosen, variants
  }

  @Test(arguments: Choice.allCases, [DiskCache.KeyRecording.always, .never])
  func `memory tells that a value was removed by choice, and not replaced`(
    choice: Choice, recording: DiskCache.KeyRecording
  ) async throws {
    var configuration = scene.configuration
    configuration.disk.recordKeys = recording
    let cache = try Cache(directory: scene.path, coder: .string, configuration: configuration)
    let other = try Cache(directory: scene.path, coder: .string, configuration: configuration)
    try await cache.store("old", forKey: "a")
    try await cache.store("new", forKey: "a")
    #expect(try await other.value(forKey: "a") == "new")
    var events = cache.memory.removals().makeAsyncIterator()
    switch choice {
    case .key: try await cache.remove(forKey: "a")
    case .value: try await cache.removeValue(forKey: "a")
    case .chosen: try await cache.removeAll { _ in true }
    case .variants: try await cache.removeVariants(of: "a")
    }
    #expect(cache.memory.statistics.removals == [.replaced: 1, .explicit: 1])
    if recording == .always || choice == .key || choice == .value {
      #expect(other.memory.statistics.removals == [.explicit: 1])
    }
    #expect(await events.next()?.cause == .explicit)
  }

  @Test func `memory tells of what has left it before it is closed`() async throws {
    let cache = try Cache(
      directory: scene.path, coder: .string, configuration: scene.configuration)
    try await cache.store("value", forKey: "a")
    let (events, gate) = (cache.memory.removals(), DispatchSemaphore(value: 0))
    // Its threads, which tell of it, are busy until then.
    let threads = cache.memory.threads
    for _ in 0..<threads.threadLimit { threads.submit { gate.wait() } }
    _ = try await cache.disk.removeAllInBackground()
    try await cache.close()
    // A cache may be closed again.
    try await cache.close()
    for _ in 0..<threads.threadLimit { gate.signal() }
    var causes: [RemovalCause] = []
    for await event in events { causes.append(event.cause) }
    #expect(causes == [.explicit])
  }

  /// Returns the events of a sequence as text, after the cache is closed.
  private func lines(_ sequence: RemovalEvents<DiskRemovalEvent>) async -> [String] {
    var lines: [String] = []
    for await event in sequence {
      #expect(event.missedCount == 0)
      let key = event.key.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "-"
      let known = ["a", "b", "c", "d", "e"].first { scene.name($0).text == event.name }
      lines.append("\(known ?? "?") \(key) \(event.cause)")
    }
    return lines
  }

  /// Returns the removals during a function, with a cache that is closed at the end.
  private func removals(
    _ body: (Cache<String>) throws -> Void
  ) throws -> RemovalEvents<DiskRemovalEvent> {
    let cache = try cache()
    let events = cache.removals()
    try body(cache)
    try cache.close()
    return events
  }

  @Test func `a sequence tells of each cause, with the key where it was named`() async throws {
    let events = try removals { cache in
      for key in ["a", "b", "c"] { try cache.store(key, forKey: key) }
      try cache.store("d", forKey: "d", expiration: .seconds(10))
      try cache.store("second", forKey: "a")
      try cache.remove(forKey: "a")
      scene.clock.advance(by: .seconds(10))
      try cache.disk.removeExpired()
      try scene.damage("b", to: [1, 2, 3])
      cache.memory.removeAll()
      #expect(try cache.value(forKey: "b") == nil)
      try cache.flush()
      try cache.disk.trim(toCount: 0)
      try cache.store("e", forKey: "e")
      try cache.removeAll()
    }
    #expect(
      await lines(events) == [
        "a a replaced", "a a explicit", "d - expired", "b - corrupt", "c - evicted",
        "e - explicit",
      ])
  }

  @Test func `what the memory tier lets go of is still in the cache`() async throws {
    let events = try removals { cache in
      try cache.store("value", forKey: "a")
      cache.memory.removeAll()
      cache.respond(to: .empty)
      #expect(try cache.contains("a"))
    }
    #expect(await lines(events).isEmpty)
  }

  @Test func `a removal that fails is not told of`() async throws {
    let events = try removals { cache in
      try cache.store("value", forKey: "a")
      scene.faults.plan(.errno(.ioError), for: .unlinkat)
      #expect(throws: CacheError.self) { try cache.remove(forKey: "a") }
      scene.faults.plan(.errno(.ioError), for: .unlinkat)
      try cache.disk.trim(toCount: 0)
      #expect(try cache.remove(forKey: "a"))
      #expect(try !cache.remove(forKey: "a"))
    }
    #expect(await lines(events) == ["a a explicit"])
  }

  @Test func `a sequence of a closed cache ends at once`() async throws {
    let closed = Shared<Cache<String>?>(nil)
    _ = try removals { closed.value = $0 }
    let events = try #require(closed.value?.removals())
    #expect(await lines(events).isEmpty)
  }

  @Test func `several objects on a directory hear of each other's removals`() async throws {
    let events = try removals { _ in
      let other = try cache()
      try other.store("value", forKey: "a")
      try other.remove(forKey: "a")
      try other.close()
    }
    #expect(await lines(events) == ["a a explicit"])
  }

  @Test func `events and counters agree, whatever threads remove`() async throws {
    let (events, counted) = try work()
    var told: [RemovalCause: Int] = [:]
    for await event in events { told[event.cause, default: 0] += 1 + event.missedCount }
    #expect(told == counted)
    #expect(told.count == 4)
  }

  /// Lets threads store and remove, and returns the events and the counts.
  private func work() throws -> (RemovalEvents<DiskRemovalEvent>, [RemovalCause: Int]) {
    var configuration = DiskCache.Configuration(sizeLimit: 2_000)
    configuration.clock = scene.clock.wallClock
    let cache = try DiskCache(directory: scene.path, configuration: configuration)
    let events = cache.removals(bufferingNewest: 100_000)
    inThreads(4) { thread in
      var random = SeededRandom(seed: UInt64(thread))
      for _ in 0..<300 {
        do throws(CacheError) {
          try act(on: cache, &random)
        } catch {
          Issue.record(error)
        }
      }
    }
    try cache.flush()
    let counted = cache.statistics.removals.filter { $0.value > 0 }
    try cache.close()
    return (events, counted)
  }

  private func act(on cache: DiskCache, _ random: inout SeededRandom) throws(CacheError) {
    let key = "\(Int.random(in: 0..<60, using: &random))"
    switch Int.random(in: 0..<20, using: &random) {
    case 0: try cache.removeExpired()
    case 1: try cache.trim(toCount: 20)
    case 2: scene.clock.advance(by: .seconds(1))
    case 3..<7: try cache.remove(forKey: key)
    default:
      let bytes = [UInt8](repeating: 1, count: Int.random(in: 1...100, using: &random))
      try cache.store(
        bytes, forKey: key, expiration: .seconds(Int.random(in: 1...20, using: &random)))
    }
  }
}
