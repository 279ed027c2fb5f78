import Larder

/// A replay of a trace of accesses on a cache, which counts the hits.
///
/// Each line of a trace is an access, `object [bytes]`. A miss stores a value of that many bytes,
/// which differ between objects. Every hit is compared with the stored value.
enum ReplayBenchmark {
  static let usage = """
    usage: LarderBench replay TRACE [--disk SIZE] [--memory COUNT] [--directory DIR]
                              [--skip N] [--first N] [--granularity SECONDS] [--json]

      --disk SIZE       the disk tier's limit: bytes, or such as 24MiB
      --memory COUNT    the memory tier's limit in entries; with both, the cache of two tiers
      --directory DIR   a directory that stays; the default is one that is removed at the end
      --skip N          leaves the first N accesses out
      --first N         ends after access N of the trace
      --granularity S   how far the last access on disk may lag, in seconds; the default is 60
    """

  /// Runs a replay with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try ReplayOptions(arguments)
    let trace = try Trace(path: options.trace, skip: options.skip, first: options.first)
    let subject = try ReplaySubject(options)
    var report = ReplayReport()
    let start = ContinuousClock.now
    let progress = Progress("replay", seconds: Double(trace.accesses.count) * 10e-6)
    let piece = max(1, trace.accesses.count / 100)
    for (number, access) in trace.accesses.enumerated() {
      if number % piece == 0 {
        progress.begin(
          "access \(number) of \(trace.accesses.count)", seconds: Double(piece) * 10e-6)
      }
      try subject.access(trace.objects[access.object], access.byteCount, &report)
    }
    progress.end()
    try subject.finish(&report)
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    report.accesses = trace.accesses.count
    print(options.isJSON ? report.json : report.table)
    try subject.cleanUp()
  }
}

/// The options of a replay.
struct ReplayOptions {
  var trace = ""
  var diskLimit: Int?
  var memoryCount: Int?
  var directory: String?
  var skip = 0
  var first = Int.max
  var granularity = 60
  var isJSON = false

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": isJSON = true
      case "--disk": diskLimit = try ByteSize.parse(rest.popFirst())
      case "--memory": memoryCount = try ByteSize.parse(rest.popFirst())
      case "--directory": directory = rest.popFirst()
      case "--skip": skip = try ByteSize.parse(rest.popFirst())
      case "--first": first = try ByteSize.parse(rest.popFirst())
      case "--granularity": granularity = try ByteSize.parse(rest.popFirst())
      default:
        guard trace.isEmpty, !argument.hasPrefix("-") else { throw UsageError() }
        trace = argument
      }
    }
    guard !trace.isEmpty, diskLimit != nil || memoryCount != nil else { throw UsageError() }
  }
}

/// The error for a command line that cannot be understood.
struct UsageError: Error {}
