import Glibc
import Larder

/// The benchmark of evicting half of a directory, from the decision until the files are gone, and
/// of the scan before it.
///
/// The cache's directory is filled by the cache. The raw side scans a directory of plain files of
/// the same content and unlinks those with the earlier half of the accesses, in the order of last
/// access. That order is unrelated to the order on the disk. With `--latency`, the benchmark
/// measures reads and stores of another thread during a scan, an eviction and a removal of all.
enum EvictBenchmark {
  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let latency = arguments.contains("--latency")
    let options = try DiskOptions(arguments.filter { $0 != "--latency" })
    guard !latency else { return try EvictionLatency(options).run() }
    let sizes = options.entries.isEmpty ? [100_000, 1_000_000] : options.entries
    let plan = sizes.map { (entries: $0, rounds: options.rounds) }
    let progress = Progress("evict", seconds: plan.map(expectedSeconds).reduce(0, +))
    let report = try measure(options, plan, progress)
    progress.end()
    report.print(asJSON: options.isJSON)
  }

  static func expectedSeconds(_ size: (entries: Int, rounds: Int)) -> Double {
    Double(size.entries * size.rounds) * perEntry
  }

  // The seconds per entry in which both sides are filled, measured and removed.
  private static let perEntry = 190e-6

  /// Measures some sizes, each in a number of rounds.
  static func measure(
    _ options: DiskOptions, _ sizes: [(entries: Int, rounds: Int)], _ progress: Progress
  ) throws -> DiskReport {
    var report = DiskReport()
    for (count, rounds) in sizes {
      var half = DiskResult(name: "evict-half", entries: count, byteCount: nil)
      var both = DiskResult(name: "scan-and-evict-half", entries: count, byteCount: nil)
      for round in 0..<rounds {
        progress.begin(
          "evicting half of \(count) files, round \(round + 1) of \(rounds)",
          seconds: Double(count) * perEntry)
        let (scans, evictions) = try measure(options, count, isOursFirst: round % 2 == 0)
        half.add(evictions)
        both.add(
          Interleaving.Times(
            ours: scans.ours + evictions.ours, least: scans.least + evictions.least))
      }
      report.results += [half, both]
    }
    return report
  }

  /// Returns the times of the scan and of the eviction.
  private static func measure(
    _ options: DiskOptions, _ count: Int, isOursFirst: Bool
  ) throws -> (scans: Interleaving.Times, evictions: Interleaving.Times) {
    let keys = BenchmarkKeys.make(count)
    let names = RawNames(ofKeys: keys)
    let byteCount = options.byteCounts.first ?? 100
    let accesses = (Int(time(nil)) - count..<Int(time(nil))).shuffled()
    var scans = Interleaving.Times()
    var evictions = Interleaving.Times()
    // One side after the other, each in its own directory, because two at once would not fit into
    // the memory of many machines.
    for isOurs in [isOursFirst, !isOursFirst] {
      let directory = BenchmarkDirectory(options, "evict")
      if isOurs {
        try directory.store(keys, byteCount: byteCount, accesses: accesses)
      } else {
        directory.fill(names, byteCount: byteCount, accesses: accesses)
      }
      sync()
      if isOurs {
        (scans.ours, evictions.ours) = try ours(directory, count, options.isByValue)
      } else {
        (scans.least, evictions.least) = raw(directory, count)
      }
      directory.removeAll()
      sync()
    }
    return (scans, evictions)
  }

  private static func ours(
    _ directory: BenchmarkDirectory, _ count: Int, _ isByValue: Bool
  ) throws -> (scan: Duration, eviction: Duration) {
    let clock = ContinuousClock()
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    if isByValue { configuration.evictionOrder = .leastValuable }
    let cache = try DiskCache(directory: directory.path, configuration: configuration)
    let scan = try clock.measure { _ = try cache.count() }
    let eviction = try clock.measure {
      let result = try cache.trim(toCount: count - count / 2)
      precondition(result.removed == count / 2, "evicted \(result.removed)")
    }
    try cache.close()
    return (scan, eviction)
  }

  private static func raw(
    _ directory: BenchmarkDirectory, _ count: Int
  ) -> (scan: Duration, eviction: Duration) {
    let descriptor = RawCalls.openDirectory(directory.path)
    defer { close(descriptor) }
    let clock = ContinuousClock()
    var files: [(name: String, access: Int)] = []
    files.reserveCapacity(count + 2)
    let scan = clock.measure {
      unsafe RawCalls.scan(descriptor) { name, status in
        let isFile = status.st_mode & S_IFMT == S_IFREG
        if isFile { files.append((unsafe String(cString: name), status.st_atim.tv_sec)) }
      }
    }
    let eviction = clock.measure {
      files.sort { $0.access < $1.access }
      for file in files.prefix(count / 2) { unsafe RawCalls.remove(descriptor, file.name) }
    }
    return (scan, eviction)
  }
}
