import Glibc
import Larder

/// A stress test of both tiers, single flight and a separate memory cache, with many threads. An
/// oracle knows the valid results of each read.
enum FrontStressBenchmark {
  static let usage = """
    usage: LarderBench front-stress [--threads N] [--seconds S] [--directory DIR] [--json]

      --directory DIR   where the cache is made, below this; the default is $TMPDIR or /tmp
    """

  /// The counts that must be zero for a run to pass.
  private static let violations = [
    "replaced_values", "lost_values", "stale_values", "wrong_values", "torn_values",
    "loads_at_once", "errors", "totals_wrong",
  ]

  /// Runs with the arguments that follow its name. Exits 1 if there is a violation.
  static func run(arguments: [String]) throws {
    var (threads, seconds, isJSON) = (16, 60, false)
    var parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": isJSON = true
      case "--threads": threads = try number(rest.popFirst())
      case "--seconds": seconds = try number(rest.popFirst())
      case "--directory": parent = rest.popFirst() ?? parent
      default: throw UsageError()
      }
    }
    let counts = StressCounts(speaksAtOnce: false)
    let progress = Progress("front-stress", seconds: Double(seconds))
    progress.begin("\(threads) threads", seconds: Double(seconds))
    try stress("\(parent)/larder-front-\(getpid())", threads: threads, seconds: seconds, counts)
    progress.end()
    let all = counts.all
    print(report(all, threads: threads, seconds: seconds, isJSON: isJSON))
    if violations.contains(where: { all[$0, default: 0] > 0 }) { exit(1) }
  }

  private static func stress(
    _ directory: String, threads: Int, seconds: Int, _ counts: StressCounts
  ) throws {
    let subject = try FrontSubject(directory: directory, counts)
    let end = MonotonicTime.now.advanced(by: .seconds(seconds))
    BenchmarkThreads.run(threads) { thread in
      var worker = FrontWorker(subject, thread: thread)
      worker.run(until: end)
    }
    let (memory, loads) = (subject.memory.statistics, subject.cache.statistics.loads)
    counts.add([
      "loads": loads.started, "loads_joined": loads.joined,
      "memory_evicted": memory.removals[.evicted, default: 0],
      "memory_expired": memory.removals[.expired, default: 0],
      "front_memory_hits": subject.cache.statistics.memory.hits,
      "front_disk_hits": subject.cache.statistics.disk.hits,
    ])
    if memory.stores - memory.removals.values.reduce(0, +) != subject.memory.count {
      counts.violation("totals_wrong", "\(subject.memory.count) values in memory, \(memory)")
    }
    try subject.cache.removeAll()
    try subject.cache.close()
    _ = unsafe unlink(directory + "/CACHEDIR.TAG")
    _ = unsafe rmdir(directory)
  }

  private static func report(
    _ counts: [String: Int], threads: Int, seconds: Int, isJSON: Bool
  ) -> String {
    let others = counts.filter { !violations.contains($0.key) }.sorted { $0.key < $1.key }
    let figures =
      [("threads", threads), ("seconds", seconds)] + others.map { ($0.key, $0.value) }
      + violations.map { ($0, counts[$0, default: 0]) }
    if isJSON {
      let members = figures.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ")
      return "{\"schema\": 1, \(members)}"
    }
    return figures.map { name, value in
      name + String(repeating: " ", count: max(1, 34 - name.count - "\(value)".count)) + "\(value)"
    }.joined(separator: "\n")
  }

  private static func number(_ text: String?) throws -> Int {
    guard let text, let number = Int(text), number > 0 else { throw UsageError() }
    return number
  }
}
