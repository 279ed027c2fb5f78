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
    let progress = Progress("disk", seconds: expectedSeconds(options))
    let report = try measure(options, progress)
    progress.end()
    report.print(asJSON: options.isJSON)
  }

  /// Measures all sizes.
  static func measure(_ options: DiskOptions, _ progress: Progress) throws -> DiskReport {
    var report = DiskReport()
    for (byteCount, count) in sizes(options) {
      var measurement = try DiskMeasurement(options, byteCount: byteCount, count: count)
      for round in 1...options.rounds {
        progress.begin(
          "values of \(ByteSize.text(byteCount)), round \(round) of \(options.rounds)",
          seconds: expectedSeconds(byteCount, count))
        try measurement.runRound()
      }
      report.results += measurement.results
      measurement.cleanUp()
    }
    return report
  }

  /// The sizes, and how many values of each.
  private static func sizes(_ options: DiskOptions) -> [(byteCount: Int, count: Int)] {
    (options.byteCounts.isEmpty ? defaultByteCounts : options.byteCounts).map { byteCount in
      let entries = options.entries.first ?? 10_000
      return (byteCount, max(64, min(entries, options.cap / max(byteCount, 1))))
    }
  }

  static func expectedSeconds(_ options: DiskOptions) -> Double {
    sizes(options).map { expectedSeconds($0.byteCount, $0.count) * Double(options.rounds) }
      .reduce(0, +)
  }

  private static func expectedSeconds(_ byteCount: Int, _ count: Int) -> Double {
    Double(count) * (0.00085 + Double(byteCount) * 6.5e-9)
  }
}
