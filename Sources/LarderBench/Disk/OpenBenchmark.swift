import Glibc
import Larder

/// The benchmark from opening a cache to the first value, by the number of entries.
///
/// The raw side opens the directory and reads the file.
enum OpenBenchmark {
  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    try measure(options).print(asJSON: options.isJSON)
  }

  /// Measures all sizes.
  static func measure(_ options: DiskOptions) throws -> DiskReport {
    var report = DiskReport()
    let sizes = options.entries.isEmpty ? [100, 1_000_000] : options.entries
    for count in sizes {
      let keys = (0..<count).map { "https://example.com/item/\($0)" }
      let names = RawNames(ofKeys: keys)
      let directory = BenchmarkDirectory(options, "open")
      directory.fill(
        names, byteCount: 100, accesses: [Int](repeating: Int(time(nil)), count: count))
      var result = DiskResult(name: "open", entries: count, byteCount: 100)
      for round in 0..<max(options.rounds, 20) {
        let index = round * 7919 % count
        try result.add(ours(directory, keys[index]), raw: raw(directory, names, index))
      }
      report.results.append(result)
      directory.removeAll()
    }
    return report
  }

  private static func ours(_ directory: BenchmarkDirectory, _ key: String) throws -> Double {
    let start = ContinuousClock.now
    let cache = try DiskCache(directory: directory.path)
    let value = try cache.value(forKey: key)
    let duration = ContinuousClock.now - start
    precondition(value?.count == 100, "the value is missing")
    try cache.close()
    return duration / .nanoseconds(1)
  }

  private static func raw(
    _ directory: BenchmarkDirectory, _ names: RawNames, _ index: Int
  ) -> Double {
    let start = ContinuousClock.now
    let descriptor = RawCalls.openDirectory(directory.path)
    let value = unsafe RawCalls.read(descriptor, names[index])
    close(descriptor)
    precondition(value.count == 100)
    return (ContinuousClock.now - start) / .nanoseconds(1)
  }
}
