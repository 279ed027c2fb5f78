import Larder

/// A replay of a trace of accesses on a cache, which counts the hits.
///
/// Each line of a trace is an access, `object [bytes]`. A miss stores a value of that many bytes,
/// which differ between objects. Every hit is compared with the stored value.
enum ReplayBenchmark {
  static let usage = """
    usage: LarderBench replay TRACE [--disk SIZE] [--memory COUNT] [--directory DIR]
                              [--skip N] [--first N] [--granularity SECONDS] [--json]
                              [--count N] [--order ORDER] [--rate N] [--restart N] [--processes N]

      --disk SIZE       the disk tier's limit: bytes, or such as 24MiB
      --count N         the disk tier's limit in entries
      --order ORDER     which entries go: use (the default), or value
      --rate N          replays N requests a second by a clock of its own, and waits for each
                        eviction; without it as fast as they are answered, by the system's clock
      --restart N       opens the cache anew after every N accesses
      --processes N     has N processes share the accesses at random, one at a time
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
    if options.processCount > 1 { return try ReplayProcesses(options, arguments).run(trace) }
    var subject = try ReplaySubject(options)
    if options.isPart { return try ReplayProcesses.runPart(trace, &subject) }
    var report = ReplayReport()
    let start = ContinuousClock.now
    let progress = Progress("replay", seconds: Double(trace.accesses.count) * 10e-6)
    let piece = max(1, trace.accesses.count / 100)
    for (number, access) in trace.accesses.enumerated() {
      if number % piece == 0 {
        progress.begin(
          "access \(number) of \(trace.accesses.count)", seconds: Double(piece) * 10e-6)
      }
      try subject.prepare(number, &report)
      try subject.access(trace.objects[access.object], access.byteCount, &report)
    }
    progress.end()
    try subject.finish(&report)
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    (report.accesses, report.rate) = (trace.accesses.count, options.rate)
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
  var countLimit: Int?
  var isByValue = false
  var rate: Int?
  var restart: Int?
  var processCount = 1
  /// Whether this process makes the accesses that another one tells it.
  var isPart = false
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
      case "--count": countLimit = try ByteSize.parse(rest.popFirst())
      case "--order": isByValue = rest.popFirst() == "value"
      case "--rate": rate = try ByteSize.parse(rest.popFirst())
      case "--restart": restart = try ByteSize.parse(rest.popFirst())
      case "--processes": processCount = try ByteSize.parse(rest.popFirst())
      case "--part": isPart = true
      default:
        guard trace.isEmpty, !argument.hasPrefix("-") else { throw UsageError() }
        trace = argument
      }
    }
    let hasLimit = diskLimit != nil || countLimit != nil || memoryCount != nil
    guard !trace.isEmpty, hasLimit, processCount < 2 || isPart || directory == nil else {
      throw UsageError()
    }
    if isPart { processCount = 1 }
  }
}

/// The error for a command line that cannot be understood.
struct UsageError: Error {}
