import Glibc
import Larder

/// The benchmark of the disk tier beside the raw system calls that give the same results.
///
/// The two sides take turns in the same rounds on the same filesystem, and read the same files. The
/// page cache is warm, so the code is measured and not the disk.
enum DiskBenchmark {
  static let defaultByteCounts = [100, 1 << 10, 10 << 10, 100 << 10, 1 << 20]

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    try measure(options).print(asJSON: options.isJSON)
  }

  /// Measures all sizes.
  static func measure(_ options: DiskOptions) throws -> DiskReport {
    let sizes = options.byteCounts.isEmpty ? defaultByteCounts : options.byteCounts
    var report = DiskReport()
    for byteCount in sizes {
      let entries = options.entries.first ?? 10_000
      let count = max(64, min(entries, options.cap / max(byteCount, 1)))
      var measurement = DiskMeasurement(options, byteCount: byteCount, count: count)
      for _ in 0..<options.rounds { try measurement.runRound() }
      report.results += measurement.results
      measurement.cleanUp()
    }
    return report
  }
}
