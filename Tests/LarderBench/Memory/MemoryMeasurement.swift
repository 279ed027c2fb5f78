/// The measurement in one process: one cache, one size, one number of threads, all four workloads.
struct MemoryMeasurement {
  static let workloads = ["get-hit", "get-miss", "set-evict", "zipf"]

  let entries: Int
  let threads: Int
  /// The operations of each thread in each workload.
  let length: Int
  private var stream = KeyStream(seed: 7)

  init(entries: Int, threads: Int) {
    self.entries = entries
    self.threads = threads
    // Whole passes over the keys, at least a million operations, so that each key is used equally
    // often.
    length = max(1, 1_000_000 / entries) * entries
  }

  /// Returns the nanoseconds per operation of each workload, by name, and under `bytes` the
  /// resident bytes per entry without key and value.
  ///
  /// Stores with eviction start with a cache that was just filled, the other workloads with one
  /// that was read at random.
  mutating func run<Cache: BenchmarkedCache>(_ type: Cache.Type) -> [(String, Double)] {
    let values = (0..<1024).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 64) }
    let keys = KeyStream.keys(stream.shuffled(entries))
    let before = ResidentMemory.byteCount
    let cache = filled(type, keys, values)
    // The key and the value take this in any cache.
    let inline = MemoryLayout<String>.stride + MemoryLayout<[UInt8]>.stride
    let bytes = Double(ResidentMemory.byteCount - before) / Double(entries) - Double(inline)
    return [
      ("bytes", bytes), ("get-hit", hits(cache)), ("get-miss", misses(cache)),
      ("zipf", zipf(cache, values)), ("set-evict", sets(filled(type, keys, values), values)),
    ]
  }

  /// Returns a cache that holds every key, filled in the order of the keys.
  private func filled<Cache: BenchmarkedCache>(
    _ type: Cache.Type, _ keys: [String], _ values: [[UInt8]]
  ) -> Cache {
    let cache = Cache(capacity: entries)
    for index in keys.indices { cache.set(keys[index], values[index & 1023]) }
    return cache
  }

  /// Reads present keys in random order.
  private mutating func hits(_ cache: some BenchmarkedCache) -> Double {
    let lists = perThread { $0.shuffled($1.entries) }
    return time { thread, passes in
      for _ in 0..<passes {
        for key in lists[thread] { precondition(cache.get(key) != nil, "a key is missing") }
      }
    }
  }

  /// Reads absent keys.
  private mutating func misses(_ cache: some BenchmarkedCache) -> Double {
    let lists = perThread { stream, me in stream.shuffled(me.entries).map { $0 + me.entries } }
    return time { thread, passes in
      for _ in 0..<passes {
        for key in lists[thread] { precondition(cache.get(key) == nil, "a key is there") }
      }
    }
  }

  /// Reads keys with a skewed distribution, and stores every tenth time.
  private mutating func zipf(_ cache: some BenchmarkedCache, _ values: [[UInt8]]) -> Double {
    let keys = KeyStream.keys(Array(0..<entries))
    let lists = (0..<threads).map { _ in
      stream.zipf(entries, length: length).map { keys[$0] }
    }
    return time { thread, _ in
      var step = 0
      for key in lists[thread] {
        step &+= 1
        if step % 10 == 0 {
          cache.set(key, values[step & 1023])
        } else {
          precondition(cache.get(key) != nil, "a key is missing")
        }
      }
    }
  }

  /// Stores absent keys, each of which evicts another one.
  private mutating func sets(_ cache: some BenchmarkedCache, _ values: [[UInt8]]) -> Double {
    let lists = (0..<threads).map { thread in
      let first = (2 + thread) * length
      return KeyStream.keys(Array(first..<first + length))
    }
    return time { thread, _ in
      var step = 0
      for key in lists[thread] {
        cache.set(key, values[step & 1023])
        step &+= 1
      }
    }
  }

  private mutating func perThread(
    _ numbers: (inout KeyStream, MemoryMeasurement) -> [Int]
  ) -> [[String]] {
    (0..<threads).map { _ in
      let me = self
      return KeyStream.keys(numbers(&stream, me))
    }
  }

  /// Returns the nanoseconds of one operation of a thread, while the other threads run theirs.
  private func time(
    _ body: @escaping @Sendable (_ thread: Int, _ passes: Int) -> Void
  ) -> Double {
    let passes = length / entries
    let clock = ContinuousClock()
    let start = clock.now
    BenchmarkThreads.run(threads) { thread in body(thread, passes) }
    return (clock.now - start) / .nanoseconds(1) / Double(passes * entries)
  }
}
