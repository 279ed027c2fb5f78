import Glibc
import Larder

/// The benchmark of opening a cache, of the first value after it, and of closing, by the number of
/// entries.
///
/// The raw side opens the directory and reads the file, and closes the directory. `open` is the
/// time from nothing to the first value, `close` that of `close()` on the caller's thread, both of
/// a `DiskCache`. The rows with `both-tiers` are of a `Cache`, which also follows other processes.
enum OpenBenchmark {
  private struct Round {
    var first = Duration.zero
    var close = Duration.zero
  }

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    let progress = Progress("open", seconds: expectedSeconds(options))
    let report = try measure(options, progress)
    progress.end()
    report.print(asJSON: options.isJSON)
  }

  private static func sizes(_ options: DiskOptions) -> [Int] {
    options.entries.isEmpty ? [100, 1_000_000] : options.entries
  }

  static func expectedSeconds(_ options: DiskOptions) -> Double {
    sizes(options).map { Double($0) * 45e-6 + 1 }.reduce(0, +)
  }

  /// Measures all sizes.
  static func measure(_ options: DiskOptions, _ progress: Progress) throws -> DiskReport {
    var report = DiskReport()
    for count in sizes(options) {
      progress.begin("opening among \(count) files", seconds: Double(count) * 45e-6 + 1)
      let keys = BenchmarkKeys.make(count)
      let names = RawNames(ofKeys: keys)
      let directory = BenchmarkDirectory(options, "open")
      // First, because a cache marks only a directory that it finds empty.
      try directory.store([], byteCount: 0, accesses: [])
      directory.fill(
        names, byteCount: 100, accesses: [Int](repeating: Int(time(nil)), count: count))
      let indices = (0..<max(options.rounds, 40)).map { $0 * 7919 % count }
      try directory.store(indices.map { keys[$0] }, byteCount: 100, accesses: [])
      report.results += try measure(options, directory, keys, names, indices)
      directory.removeAll()
    }
    return report
  }

  private static func measure(
    _ options: DiskOptions, _ directory: BenchmarkDirectory, _ keys: [String], _ names: RawNames,
    _ indices: [Int]
  ) throws -> [DiskResult] {
    var results = ["open", "close", "open-both-tiers", "close-both-tiers"].map {
      DiskResult(name: $0, entries: keys.count, byteCount: 100)
    }
    for (number, index) in indices.enumerated() {
      var rounds = [Round](repeating: Round(), count: 3)
      for turn in 0..<3 {
        let side = (number + turn) % 3
        switch side {
        case 0: rounds[0] = try disk(directory, keys[index])
        case 1: rounds[1] = try bothTiers(directory, keys[index])
        default: rounds[2] = raw(directory, names, index)
        }
      }
      for (tier, round) in rounds.prefix(2).enumerated() {
        results[2 * tier].add(Interleaving.Times(ours: round.first, least: rounds[2].first))
        results[2 * tier + 1].add(Interleaving.Times(ours: round.close, least: rounds[2].close))
      }
    }
    return results
  }

  private static func disk(_ directory: BenchmarkDirectory, _ key: String) throws -> Round {
    let start = ContinuousClock.now
    let cache = try DiskCache(directory: directory.path)
    let value = try cache.value(forKey: key)
    let found = ContinuousClock.now
    precondition(value?.count == 100, "the value is missing")
    let closing = ContinuousClock.now
    try cache.close()
    return Round(first: found - start, close: ContinuousClock.now - closing)
  }

  private static func bothTiers(_ directory: BenchmarkDirectory, _ key: String) throws -> Round {
    let start = ContinuousClock.now
    let cache = try Cache(directory: directory.path, coder: .bytes)
    let value = try cache.value(forKey: key)
    let found = ContinuousClock.now
    precondition(value?.count == 100, "the value is missing")
    let closing = ContinuousClock.now
    try cache.close()
    return Round(first: found - start, close: ContinuousClock.now - closing)
  }

  private static func raw(
    _ directory: BenchmarkDirectory, _ names: RawNames, _ index: Int
  ) -> Round {
    let start = ContinuousClock.now
    let descriptor = RawCalls.openDirectory(directory.path)
    let value = unsafe RawCalls.read(descriptor, names[index])
    let found = ContinuousClock.now
    precondition(value.count == 100)
    let closing = ContinuousClock.now
    close(descriptor)
    return Round(first: found - start, close: ContinuousClock.now - closing)
  }
}
