import Glibc
import Larder

/// The benchmark of evicting half of a directory, from the decision until the files are gone.
///
/// The raw side unlinks the same files of a directory created in the same way. It does so in the
/// order of last access, which is unrelated to the order on the disk. With `--latency`, the
/// benchmark measures reads and stores of another thread during the eviction instead.
enum EvictBenchmark {
  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let latency = arguments.contains("--latency")
    let options = try DiskOptions(arguments.filter { $0 != "--latency" })
    guard latency else { return try measure(options).print(asJSON: options.isJSON) }
    try EvictionLatency(options).run()
  }

  /// Measures all sizes.
  static func measure(_ options: DiskOptions) throws -> DiskReport {
    var report = DiskReport()
    let sizes = options.entries.isEmpty ? [100_000, 1_000_000] : options.entries
    for count in sizes {
      var result = DiskResult(name: "evict-half", entries: count, byteCount: nil)
      for round in 0..<options.rounds {
        try result.add(measure(options, count, isOursFirst: round % 2 == 0))
      }
      report.results.append(result)
    }
    return report
  }

  private static func measure(
    _ options: DiskOptions, _ count: Int, isOursFirst: Bool
  ) throws -> Interleaving.Times {
    let names = RawNames(ofKeys: (0..<count).map { "https://example.com/item/\($0)" })
    let order = Array(0..<count).shuffled()
    var accesses = [Int](repeating: 0, count: count)
    let start = Int(time(nil)) - count
    for (place, index) in order.enumerated() { accesses[index] = start + place }
    var times = Interleaving.Times()
    // One side after the other, each in its own directory, because two at once would not fit into
    // the memory of many machines.
    for isOurs in [isOursFirst, !isOursFirst] {
      let directory = BenchmarkDirectory(options, "evict")
      directory.fill(names, byteCount: options.byteCounts.first ?? 100, accesses: accesses)
      sync()
      if isOurs {
        times.ours = try ours(directory, count)
      } else {
        times.raw = raw(directory, names, order.prefix(count / 2))
      }
      directory.removeAll()
      sync()
    }
    return times
  }

  private static func ours(_ directory: BenchmarkDirectory, _ count: Int) throws -> Duration {
    let cache = try DiskCache(
      directory: directory.path, configuration: DiskCache.Configuration(sizeLimit: nil))
    _ = try cache.count()
    let clock = ContinuousClock()
    let duration = try clock.measure {
      let result = try cache.trim(toCount: count - count / 2)
      precondition(result.removed == count / 2, "evicted \(result.removed)")
    }
    try cache.close()
    return duration
  }

  private static func raw(
    _ directory: BenchmarkDirectory, _ names: RawNames, _ order: ArraySlice<Int>
  ) -> Duration {
    let descriptor = RawCalls.openDirectory(directory.path)
    defer { close(descriptor) }
    return ContinuousClock().measure {
      for index in order { unsafe RawCalls.remove(descriptor, names[index]) }
    }
  }
}

extension DiskResult {
  /// Adds the times of a round that is one operation.
  fileprivate mutating func add(_ times: Interleaving.Times) { add(times, count: 1) }
}
