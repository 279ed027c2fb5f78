import Glibc
import Larder

/// The benchmark of the scan of a directory, from its start until the totals are known.
enum ScanBenchmark {
  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    try measure(options).print(asJSON: options.isJSON)
  }

  /// Measures all sizes.
  static func measure(_ options: DiskOptions) throws -> DiskReport {
    var report = DiskReport()
    let sizes = options.entries.isEmpty ? [10_000, 100_000, 1_000_000] : options.entries
    for count in sizes {
      let directory = BenchmarkDirectory(options, "scan")
      let names = RawNames(ofKeys: (0..<count).map { "https://example.com/item/\($0)" })
      // In random order, because real uses are unrelated to the order on the disk.
      let accesses = (0..<count).map { Int(time(nil)) - $0 }.shuffled()
      directory.fill(names, byteCount: options.byteCounts.first ?? 100, accesses: accesses)
      var result = DiskResult(name: "scan", entries: count, byteCount: nil)
      _ = try ours(directory, count)
      for round in 0..<options.rounds {
        if round % 2 == 0 {
          try result.add(ours(directory, count), raw: raw(directory))
        } else {
          let first = raw(directory)
          try result.add(ours(directory, count), raw: first)
        }
      }
      report.results.append(result)
      directory.removeAll()
    }
    return report
  }

  private static func ours(_ directory: BenchmarkDirectory, _ count: Int) throws -> Double {
    let cache = try DiskCache(
      directory: directory.path, configuration: DiskCache.Configuration(sizeLimit: nil))
    let start = ContinuousClock.now
    let found = try cache.count()
    let duration = ContinuousClock.now - start
    precondition(found == count, "the scan found \(found) of \(count)")
    try cache.close()
    return duration / .nanoseconds(1)
  }

  private static func raw(_ directory: BenchmarkDirectory) -> Double {
    let descriptor = RawCalls.openDirectory(directory.path)
    defer { close(descriptor) }
    let start = ContinuousClock.now
    _ = RawCalls.scan(descriptor)
    return (ContinuousClock.now - start) / .nanoseconds(1)
  }
}
