import Glibc
import Larder

/// The benchmark of the scan of a directory, from its start until the totals are known.
enum ScanBenchmark {
  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    let progress = Progress("scan", seconds: expectedSeconds(options))
    let report = try measure(options, progress)
    progress.end()
    report.print(asJSON: options.isJSON)
  }

  private static func sizes(_ options: DiskOptions) -> [Int] {
    options.entries.isEmpty ? [10_000, 100_000, 1_000_000] : options.entries
  }

  static func expectedSeconds(_ options: DiskOptions) -> Double {
    sizes(options).map { Double($0) * (filling + reading * Double(options.rounds)) }.reduce(0, +)
  }

  // The seconds per entry in which a directory is filled and removed, and in which both sides scan.
  private static let filling = 45e-6
  private static let reading = 4.5e-6

  /// Measures all sizes.
  static func measure(_ options: DiskOptions, _ progress: Progress) throws -> DiskReport {
    var report = DiskReport()
    for count in sizes(options) {
      progress.begin("making \(count) files", seconds: Double(count) * filling)
      let directory = BenchmarkDirectory(options, "scan")
      let names = RawNames(ofKeys: BenchmarkKeys.make(count))
      // In random order, because real uses are unrelated to the order on the disk.
      let accesses = (0..<count).map { Int(time(nil)) - $0 }.shuffled()
      directory.fill(names, byteCount: options.byteCounts.first ?? 100, accesses: accesses)
      var result = DiskResult(name: "scan", entries: count, byteCount: nil)
      _ = try ours(directory, count)
      for round in 0..<options.rounds {
        progress.begin(
          "scan of \(count) files, round \(round + 1) of \(options.rounds)",
          seconds: Double(count) * reading)
        var times = Interleaving.Times()
        for isOurs in round % 2 == 0 ? [true, false] : [false, true] {
          if isOurs {
            times.ours = try ours(directory, count)
          } else {
            times.least = raw(directory)
          }
        }
        result.add(times)
      }
      report.results.append(result)
      directory.removeAll()
    }
    return report
  }

  private static func ours(_ directory: BenchmarkDirectory, _ count: Int) throws -> Duration {
    let cache = try DiskCache(
      directory: directory.path, configuration: DiskCache.Configuration(sizeLimit: nil))
    let start = ContinuousClock.now
    let found = try cache.count()
    let duration = ContinuousClock.now - start
    precondition(found == count, "the scan found \(found) of \(count)")
    try cache.close()
    return duration
  }

  private static func raw(_ directory: BenchmarkDirectory) -> Duration {
    let descriptor = RawCalls.openDirectory(directory.path)
    defer { close(descriptor) }
    let start = ContinuousClock.now
    _ = RawCalls.scan(descriptor)
    return ContinuousClock.now - start
  }
}
