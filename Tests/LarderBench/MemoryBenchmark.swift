import Glibc

/// The benchmark of the memory tier beside a locked dictionary and a list of node objects.
///
/// Each cache runs in a process of its own, in turns, and each number is the median of the rounds.
/// The conditions are those of a user of the library: another module, a release build, and keys of
/// 40 to 80 bytes that are never the same string object that was stored.
enum MemoryBenchmark {
  static let usage = """
    usage: LarderBench memory [--json] [--rounds N] [--entries N]… [--threads N]…
           LarderBench memory --counting [--rounds N]
    """

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) {
    var options = Options()
    var arguments = arguments[...]
    while let argument = arguments.popFirst() {
      switch argument {
      case "--json": options.isJSON = true
      case "--rounds": options.rounds = number(arguments.popFirst())
      case "--entries": options.entries.append(number(arguments.popFirst()))
      case "--threads": options.threads.append(number(arguments.popFirst()))
      case "--counting": options.isOfCounting = true
      case "--process": return measureInThisProcess(arguments)
      default: fail()
      }
    }
    if options.isOfCounting { return print(CountingBenchmark.run(rounds: options.rounds)) }
    let report = MemoryReport(
      cases: measure(options.cases, rounds: options.rounds),
      handover: CacheLineHandover.nanoseconds())
    print(options.isJSON ? report.json : report.table)
  }

  struct Options {
    var isJSON = false
    var isOfCounting = false
    var rounds = 5
    var entries: [Int] = []
    var threads: [Int] = []

    var cases: [(entries: Int, threads: Int)] {
      let entries = entries.isEmpty ? [10_000, 1_000_000] : entries
      let threads = threads.isEmpty ? [1, 2] : threads
      return entries.flatMap { count in threads.map { (count, $0) } }
    }
  }

  private static func number(_ text: String?) -> Int {
    guard let text, let number = Int(text), number > 0 else { fail() }
    return number
  }

  private static func fail() -> Never {
    let text = Array((usage + "\n").utf8)
    unsafe write(STDERR_FILENO, text, text.count)
    exit(2)
  }
}

extension MemoryBenchmark {
  static let caches = ["larder", "striped", "expiring", "text", "dictionary", "node-list"]

  /// Starts a process for each cache and size in turn, round after round.
  private static func measure(
    _ sizes: [(entries: Int, threads: Int)], rounds: Int
  ) -> [MemoryReport.Case] {
    var results = sizes.map { MemoryReport.Case(entries: $0.entries, threads: $0.threads) }
    // Caches take turns, so that a slow minute of the machine affects all.
    let expected = Double(sizes.map { 1.5 + Double($0.entries) * 4e-6 }.reduce(0, +))
    let progress = Progress("memory", seconds: expected * Double(rounds * caches.count))
    defer { progress.end() }
    for round in 1...rounds {
      for cache in caches {
        progress.begin("\(cache), round \(round) of \(rounds)", seconds: expected)
        for (number, size) in sizes.enumerated() {
          let arguments = "memory --process \(cache) \(size.entries) \(size.threads)"
          for (name, value) in ChildProcess.measurements(arguments) {
            results[number].samples[cache, default: [:]][name, default: []].append(value)
          }
        }
      }
    }
    return results
  }

  /// Runs `--process CACHE ENTRIES THREADS`: measures and prints a line for each number.
  private static func measureInThisProcess(_ arguments: ArraySlice<String>) {
    let words = Array(arguments)
    guard words.count == 3 else { fail() }
    var measurement = MemoryMeasurement(entries: number(words[1]), threads: number(words[2]))
    let lines =
      switch words[0] {
      case "larder": measurement.run(PlainLarder.self)
      case "striped": measurement.run(StripedLarder.self)
      case "expiring": measurement.run(ExpiringLarder.self)
      case "text": measurement.run(TextLarder.self)
      case "dictionary": measurement.run(LockedDictionary.self)
      case "node-list": measurement.run(NodeListCache.self)
      default: fail()
      }
    for (name, value) in lines { print(name, value) }
  }
}
