import Glibc
import Larder

/// The benchmark of reads through both tiers while memory does not have the values: the cost of
/// keeping a value in memory, and the number of hits there that earn it back.
///
/// A value that is kept takes memory that the process did not use before, for which the kernel
/// finds and clears pages. A value that is not kept is read into the memory of the one before it.
/// So each side runs in a process of its own, because otherwise one side would keep the memory that
/// another one has just released. In each process, raw calls take turns with the side.
enum ColdBenchmark {
  static let defaultByteCounts = [1, 4, 16, 64, 128, 256, 512, 1024, 4096].map { $0 << 10 }

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    if arguments.first == "--process" { return try measureInThisProcess(arguments.dropFirst()) }
    let options = try DiskOptions(arguments)
    let byteCounts = options.byteCounts.isEmpty ? defaultByteCounts : options.byteCounts
    let expected = 0.3 + Double(options.cap) * 2e-9
    let progress = Progress(
      "cold", seconds: expected * Double((1 + 3 * options.rounds) * byteCounts.count))
    var results: [ColdResult] = []
    for byteCount in byteCounts {
      let count = max(64, min(options.entries.first ?? 10_000, options.cap / max(byteCount, 1)))
      let directory = BenchmarkDirectory(options, "cold")
      defer { directory.removeAll() }
      progress.begin("storing values of \(ByteSize.text(byteCount))", seconds: expected)
      try directory.store(BenchmarkKeys.make(count), byteCount: byteCount, accesses: [])
      var result = ColdResult(byteCount: byteCount)
      for round in 1...options.rounds {
        for side in ColdMeasurement.sides {
          progress.begin(
            "values of \(ByteSize.text(byteCount)), \(side), round \(round) of \(options.rounds)",
            seconds: expected)
          let path = "'" + directory.path + "'"
          let figures = ChildProcess.measurements(
            "cold --process \(side) \(byteCount) \(count) \(path)")
          result.add(figures)
        }
      }
      results.append(result)
    }
    progress.end()
    print(options.isJSON ? ColdResult.json(results) : ColdResult.table(results))
  }

  /// Runs `--process SIDE BYTES COUNT DIR`: measures and prints a line for each number.
  private static func measureInThisProcess(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments)
    guard words.count == 4, let byteCount = Int(words[1]), let count = Int(words[2]) else {
      throw UsageError()
    }
    let measurement = try ColdMeasurement(words[0], words[3], byteCount: byteCount, count: count)
    for (name, nanoseconds) in try measurement.run() { print(name, nanoseconds) }
  }
}

/// The figures of values of one size, in nanoseconds per read.
struct ColdResult {
  static let names = ["raw", "disk", "left", "kept", "hit"]

  let byteCount: Int
  /// The times, and the ratios to the raw calls of the same process, by the names of the sides.
  private var times: [String: [Double]] = [:]
  private var ratios: [String: [Double]] = [:]

  init(byteCount: Int) { self.byteCount = byteCount }

  /// Adds the figures of one process.
  mutating func add(_ figures: [(String, Double)]) {
    let raw = figures.first { $0.0 == "raw" }?.1 ?? .nan
    for (name, time) in figures {
      times[name, default: []].append(time)
      ratios[name, default: []].append(time / raw)
    }
  }

  func time(_ name: String) -> Double { (times[name] ?? []).median }

  /// The median of the processes' ratios to the raw calls.
  func ratio(_ name: String) -> Double { (ratios[name] ?? []).median }

  /// The hits in memory after which it was worth while to keep a value.
  var hitsToPay: Double {
    max(0, (ratio("kept") - ratio("left")) / (ratio("left") - ratio("hit")))
  }

  static func table(_ results: [ColdResult]) -> String {
    var lines = [row(["bytes", "raw ns", "disk", "left", "kept", "hit", "hits to pay"])]
    for result in results {
      let ratios = names.dropFirst().map { result.ratio($0).rounded(to: 2) }
      lines.append(
        row(
          ["\(result.byteCount)", result.time("raw").rounded(to: 0)] + ratios
            + [result.hitsToPay.rounded(to: 1)]))
    }
    lines += [
      "ratios to raw calls (open, fstat, read, close) of the same process; medians of the rounds",
      "disk: the disk tier alone; hit: a hit in memory",
      "left: both tiers, and memory does not keep the value; kept: memory is empty and keeps it",
      "hits to pay: the hits in memory after which it was worth while to keep a value",
    ]
    return lines.joined(separator: "\n")
  }

  private static func row(_ cells: [String]) -> String {
    cells.map { String(repeating: " ", count: max(0, 11 - $0.count)) + $0 }.joined(separator: " ")
  }

  static func json(_ results: [ColdResult]) -> String {
    let rows = results.map { result in
      let figures = names.map { name in
        "\"\(name)_ns\": \(result.time(name).rounded(to: 1)), "
          + "\"\(name)_ratio\": \(result.ratio(name).rounded(to: 3)), "
      }
      return "{\"bytes\": \(result.byteCount), " + figures.joined()
        + "\"hits_to_pay\": \(result.hitsToPay.rounded(to: 2))}"
    }
    return "{\"schema\": 1, \"results\": [\n  \(rows.joined(separator: ",\n  "))\n]}"
  }
}
