import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct RemovalEventsTests {}

extension RemovalEventsTests {
  typealias Cache = MemoryCache<Int, Int>

  /// Returns the next events of a sequence as text, up to that of the key 999.
  private func lines(_ events: inout RemovalEvents<RemovalEvent<Int, Int>>.Iterator) async
    -> [String]
  {
    var lines: [String] = []
    while let event = await events.next(), event.key != 999 {
      lines.append(
        "\(event.key)=\(event.value) \(event.cause)"
          + (event.missedCount == 0 ? "" : " after \(event.missedCount)"))
    }
    return lines
  }

  private func mark(_ cache: Cache) {
    cache.store(0, forKey: 999)
    cache.remove(forKey: 999)
  }

  @Test
  func `a sequence tells of each cause, in order`() async {
    let clock = ManualClock(Timestamp(seconds: 1_000))
    var configuration = Cache.Configuration(countLimit: 2)
    configuration.clock = clock.wallClock
    let cache = Cache(configuration)
    var events = cache.removals(bufferingNewest: 100).makeAsyncIterator()
    cache.store(1, forKey: 1)
    cache.store(10, forKey: 1)
    cache.store(2, forKey: 2, expiration: .seconds(1))
    cache.store(3, forKey: 3)
    clock.advance(by: .seconds(1))
    cache.removeExpired()
    cache.remove(forKey: 3, cause: .corrupt)
    cache.store(4, forKey: 4)
    cache.removeAll()
    mark(cache)
    let told = await lines(&events)
    #expect(
      told == ["1=1 replaced", "1=10 evicted", "2=2 expired", "3=3 corrupt", "4=4 explicit"])
  }

  @Test
  func `what left before the sequence is not told of`() async {
    let cache = Cache()
    cache.store(1, forKey: 1)
    cache.remove(forKey: 1)
    var events = cache.removals().makeAsyncIterator()
    mark(cache)
    #expect(await lines(&events).isEmpty)
  }

  @Test(arguments: [(1, 10), (3, 10), (10, 10), (11, 10), (100, 10)])
  func `a full buffer keeps the newest and counts the rest`(_ limit: Int, _ removals: Int) async {
    let cache = Cache()
    var events = cache.removals(bufferingNewest: limit).makeAsyncIterator()
    for key in 0..<removals {
      cache.store(key, forKey: key)
      cache.remove(forKey: key)
    }
    var keys: [Int] = []
    var missed = 0
    for _ in 0..<min(limit, removals) {
      guard let event = await events.next() else { break }
      keys.append(event.key)
      missed += event.missedCount
    }
    #expect(keys == Array((0..<removals).suffix(limit)))
    #expect(missed == max(0, removals - limit))
  }

  @Test
  func `several sequences and the listener hear of everything`() async {
    let log = RemovalLog()
    var configuration = Cache.Configuration()
    configuration.removalListener = { key, _, _ in log.append("\(key)") }
    let cache = Cache(configuration)
    let sequences = (0..<3).map { _ in cache.removals() }
    cache.store(1, forKey: 1)
    cache.remove(forKey: 1)
    mark(cache)
    for sequence in sequences {
      var events = sequence.makeAsyncIterator()
      #expect(await lines(&events) == ["1=1 explicit"])
    }
    #expect(log.take() == ["1", "999"])
  }

  @Test
  func `a sequence ends with the cache, after what is in its buffer`() async {
    let sequence: RemovalEvents<RemovalEvent<Int, Int>>
    do {
      let cache = Cache()
      sequence = cache.removals()
      cache.store(1, forKey: 1)
      cache.remove(forKey: 1)
    }
    var keys: [Int] = []
    for await event in sequence { keys.append(event.key) }
    #expect(keys == [1])
  }

  @Test
  func `a sequence that is let go of is not told any more, and holds no value`() {
    let cache = MemoryCache<Int, ReleaseProbe>()
    let released = Counter()
    do {
      let sequence = cache.removals()
      cache.store(ReleaseProbe { released.add() }, forKey: 1)
      cache.remove(forKey: 1)
      #expect(released.value == 0)
      #expect(cache.isHeard)
      withExtendedLifetime(sequence) {}
    }
    #expect(released.value == 1)
    #expect(!cache.isHeard)
    cache.store(ReleaseProbe { released.add() }, forKey: 2)
    cache.remove(forKey: 2)
    #expect(released.value == 2)
  }

  @Test
  func `a cancelled task ends its sequence and no other`() async {
    let cache = Cache()
    var other = cache.removals().makeAsyncIterator()
    let sequence = cache.removals()
    let task = Task {
      var count = 0
      for await _ in sequence { count += 1 }
      return count
    }
    task.cancel()
    #expect(await task.value == 0)
    cache.store(1, forKey: 1)
    cache.remove(forKey: 1)
    mark(cache)
    #expect(await lines(&other) == ["1=1 explicit"])
  }

  @Test
  func `a value that a full buffer lets go of may use the cache when it is released`() {
    let cache = MemoryCache<Int, ReleaseProbe>(.init(countLimit: 1))
    let sequence = cache.removals(bufferingNewest: 1)
    let released = Counter()
    for key in 0..<10 {
      // A release under a lock would deadlock here.
      cache.store(
        ReleaseProbe { [weak cache] in
          cache?.remove(forKey: 1_000)
          released.add()
        }, forKey: key)
    }
    #expect(released.value == 8)
    withExtendedLifetime(sequence) {}
  }

  @Test
  func `whatever threads remove is told of or counted`() async throws {
    let cache = Cache(.init(countLimit: 10))
    let sequence = cache.removals(bufferingNewest: 64)
    let (threads, stores) = (4, 3_000)
    let ended = Counter()
    for thread in 0..<threads {
      try startThread {
        for number in 0..<stores { cache.store(number, forKey: number * threads + thread) }
        ended.add()
        if ended.value == threads { cache.store(0, forKey: -1) }
      }
    }
    var (seen, missed) = (0, 0)
    for await event in sequence {
      seen += 1
      missed += event.missedCount
      if ended.value == threads, seen + missed >= threads * stores - 10 { break }
    }
    #expect(seen + missed <= cache.statistics.removals.values.reduce(0, +))
    #expect(cache.statistics.removals.values.reduce(0, +) <= threads * stores + 1)
  }

  @Test
  func `a buffer without room traps`() async {
    await #expect(processExitsWith: .failure) {
      _ = MemoryCache<Int, Int>().removals(bufferingNewest: 0)
    }
  }
}
