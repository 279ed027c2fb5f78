import Larder
import Synchronization

/// The benchmark of counting a memory hit: a lock around an addition to a counter, minus the same
/// lock around nothing, as a share of a hit.
///
/// The counter of a hit lies beside the data that the lock guards, in a line that the processor has
/// cached, and the loop measures this case. A cache without counters would need another build, and
/// the difference of a nanosecond in sixty is less than the noise between two builds.
enum CountingBenchmark {
  private struct Counters {
    var hits = 0
    var misses = 0
  }

  private static let entries = 10_000
  private static let passes = 100

  static func run(rounds: Int) -> String {
    let cache = MemoryCache<CacheKey, [UInt8]>(.init(countLimit: entries))
    var stream = KeyStream(seed: 7)
    let keys = KeyStream.keys(stream.shuffled(entries)).map { CacheKey($0) }
    for key in keys { cache.store([1], forKey: key) }
    let counters = Mutex(Counters())
    var (hit, counted, bare) = ([Double](), [Double](), [Double]())
    // Taken in turns, so that a slow moment of the machine affects all.
    for _ in 0..<rounds {
      hit.append(time { precondition(cache.value(forKey: keys[$0]) != nil, "a key is missing") })
      counted.append(time { _ in counters.withLock { $0.hits &+= 1 } })
      bare.append(time { _ in counters.withLock { _ in } })
    }
    precondition(counters.withLock { $0.hits } == rounds * passes * entries, "a count is missing")
    let differences = zip(counted, bare).map { $0 - $1 }.sorted()
    let difference = differences[rounds / 2]
    let share = difference / hit.sorted()[rounds / 2] * 100
    return """
      hit              \(hit.sorted()[rounds / 2].rounded(to: 1)) ns
      lock and count   \(counted.sorted()[rounds / 2].rounded(to: 1)) ns
      lock             \(bare.sorted()[rounds / 2].rounded(to: 1)) ns
      counting         \(difference.rounded(to: 1)) ns, \(share.rounded(to: 1)) % of a hit
      """
  }

  /// Returns the nanoseconds of one call of a function, which gets the keys' numbers.
  @inline(__always)
  private static func time(_ body: (Int) -> Void) -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<passes {
      for index in 0..<entries { body(index) }
    }
    return (clock.now - start) / .nanoseconds(1) / Double(passes * entries)
  }
}
