import Glibc
import Larder

/// A stress test of one directory with many processes and threads. Each value contains the facts to
/// check it.
enum StressBenchmark {
  static let usage = """
    usage: LarderBench stress [--processes N] [--threads N] [--seconds S] [--limit SIZE]
                              [--directory DIR [--other DIR] [--shift S]] [--json]

      --limit SIZE      the disk tier's limit, which the working set passes four times, such as
                        24MiB; the default is 16M
      --write-behind SIZE  the bytes that each process may accept before they are written
      --directory DIR   a directory that stays; the default is one that is removed at the end
      --other DIR       the same directory through another mount, where half of the processes work
      --own-file-system DIR is on a file system that holds nothing else, such as a tmpfs: the peak
                        is the space taken there, and values are whole blocks of 4 KiB
      --shift S         how far their clocks are ahead, in seconds
      --role ROLE       writer, clearer, reader: works until it is killed; checker: judges what
                        they left and exits 1 if anything is wrong
    """

  /// Runs with the arguments that follow its name. Exits 1 if there is a violation.
  static func run(arguments: [String]) throws {
    let options = try StressOptions(arguments)
    let directory = options.directory ?? temporaryDirectory()
    switch options.role {
    case .worker, .writer, .clearer, .reader: try StressProcess.run(options, in: directory)
    case .checker:
      let counts = StressCounts(speaksAtOnce: true)
      try StressProcess.check(directory, options, counts)
      let report = StressReport(options, counts.all)
      print(options.isJSON ? report.json : report.table)
      if report.violationCount > 0 { exit(1) }
    case .judge: try judge(options, directory)
    }
  }

  private static func judge(_ options: StressOptions, _ directory: String) throws {
    let counts = StressCounts(speaksAtOnce: true)
    let children = try (0..<options.processes).map {
      try StressChild(options.childArguments($0 + 1, in: directory))
    }
    for child in children { child.expect("ready") }
    let watch = StressWatch(directory, ownsFileSystem: options.ownsFileSystem)
    let start = MonotonicTime.now
    for child in children { child.tell("go") }
    let progress = Progress("stress", seconds: Double(options.seconds))
    progress.begin("\(options.processes) processes", seconds: Double(options.seconds))
    for child in children { child.expect("rest") }
    let seconds = MonotonicTime.now.duration(since: start) / .seconds(1)
    progress.end()
    counts.add(watch.end())
    if options.other != nil { waitForRest(directory, options, counts) }
    // The evictions that are under way.
    usleep(500_000)
    let rest = StressWalk(directory)
    counts.add(["bytes_flushed": rest.byteCount, "entries_flushed": rest.files.count])
    // Between machines the totals need not agree.
    let totals = options.other == nil ? " \(rest.byteCount) \(rest.files.count)" : ""
    for child in children { child.tell("report" + totals) }
    for child in children { collect(child, rest, options, counts) }
    judgeTotals(rest, options, counts)
    try StressProcess.check(directory, options, counts)
    let report = StressReport(options, counts.all, seconds: seconds)
    print(options.isJSON ? report.json : report.table)
    if options.directory == nil { try removeDirectory(directory) }
    if report.violationCount > 0 { exit(1) }
  }

  /// Adds a child's counts, and compares its index with the directory.
  private static func collect(
    _ child: StressChild, _ rest: StressWalk, _ options: StressOptions, _ counts: StressCounts
  ) {
    var numbers: [String: Int] = [:]
    while let line = child.readLine(), line != "end" {
      let words = line.split(separator: " ")
      if words.count == 2, let value = Int(words[1]) { numbers[String(words[0])] = value }
    }
    if !child.wait() { counts.violation("errors", "a process failed") }
    let bytes = numbers.removeValue(forKey: "index_bytes") ?? 0
    let entries = numbers.removeValue(forKey: "index_entries") ?? 0
    counts.add(numbers)
    let difference = abs(bytes - rest.byteCount)
    counts.add(["index_difference": difference])
    // Not promised between machines: locks may not reach across, and each machine hears late of
    // another's changes.
    guard options.other == nil else { return }
    guard difference > 0 || entries != rest.files.count else { return }
    counts.violation(
      "totals_wrong",
      "the index has \(entries) entries of \(bytes) bytes, the directory \(rest.files.count) of"
        + " \(rest.byteCount)")
  }

  /// Waits until the machines have learned of each other's stores, which takes at most 30 s.
  private static func waitForRest(
    _ directory: String, _ options: StressOptions, _ counts: StressCounts
  ) {
    let start = MonotonicTime.now
    var seconds = 0.0
    while StressWalk(directory).byteCount > options.limitAtRest, seconds < 30 {
      sleep(1)
      seconds = MonotonicTime.now.duration(since: start) / .seconds(1)
    }
    counts.add(["seconds_to_rest": Int(seconds)])
  }

  private static func judgeTotals(
    _ rest: StressWalk, _ options: StressOptions, _ counts: StressCounts
  ) {
    if rest.byteCount > options.limitAtRest {
      counts.violation("over_limit", "\(rest.byteCount) bytes at rest of \(options.limit)")
    }
    let peak = counts.all["bytes_peak", default: 0]
    counts.add(["peak_percent": (peak * 100 + options.limit - 1) / options.limit])
    if options.other == nil, peak > options.limit + options.limit / 10 {
      counts.violation("burst_over_limit", "\(peak) bytes of \(options.limit)")
    }
  }

  private static func temporaryDirectory() -> String {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    return "\(parent)/larder-stress-\(getpid())"
  }

  private static func removeDirectory(_ directory: String) throws {
    let disk = try DiskCache(directory: directory)
    try disk.removeAll()
    try disk.close()
    _ = unsafe unlink(directory + "/CACHEDIR.TAG")
    _ = unsafe rmdir(directory)
  }
}
