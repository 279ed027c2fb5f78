import Glibc
import Larder

/// A process that shares the directory with other processes.
enum StressProcess {
  static func configuration(_ options: StressOptions) -> CacheConfiguration {
    var configuration = CacheConfiguration()
    configuration.memoryCostLimit = options.limit / 8
    configuration.disk.sizeLimit = options.limit
    configuration.disk.writeBehindLimit = options.writeBehind
    configuration.disk.extending = .lifetime
    configuration.disk.clock = options.clock
    return configuration
  }

  /// Works for the time of the options, or until it is killed.
  static func run(_ options: StressOptions, in directory: String) throws {
    let isWorker = options.role == .worker
    let counts = StressCounts(speaksAtOnce: !isWorker)
    let cache = try Cache(
      directory: directory, coder: .bytes, configuration: configuration(options))
    if isWorker {
      // Counted, because the limit holds from the first store only if the scan has ended.
      _ = try cache.disk.count()
      print("ready")
      fflush(nil)
      guard readLine() != nil else { return }
    }
    let end = MonotonicTime.now.advanced(by: .seconds(options.seconds))
    BenchmarkThreads.run(options.threads) { thread in
      var worker = StressWorker(cache, counts, options, thread: thread)
      worker.run(until: end)
    }
    if isWorker { try report(cache, counts) }
  }

  /// Waits until the index has the totals of the directory, for 30 s at most. A process hears of
  /// its neighbours' last changes within 50 ms, and later where many threads wait for a processor.
  /// Does not wait without totals.
  private static func waitForTotals(_ totals: [Int], _ disk: DiskCache) throws {
    if totals.isEmpty { return }
    let end = MonotonicTime.now.advanced(by: .seconds(30))
    while MonotonicTime.now < end, try [disk.totalSize(), disk.count()] != totals { usleep(20_000) }
  }

  /// Flushes the cache, waits until the other processes have done so too, and reports the counts
  /// and the index's totals.
  private static func report(_ cache: Cache<[UInt8]>, _ counts: StressCounts) throws {
    try cache.flush()
    print("rest")
    fflush(nil)
    guard let line = readLine() else { return }
    try waitForTotals(line.split(separator: " ").compactMap { Int($0) }, cache.disk)
    let disk = cache.statistics.disk
    counts.add([
      "index_bytes": try cache.disk.totalSize(), "index_entries": try cache.disk.count(),
      "purges": disk.purges, "evicted": disk.removals[.evicted, default: 0],
      "expired": disk.removals[.expired, default: 0], "stamps": disk.stampsWritten,
      "damaged": disk.misses[.damaged, default: 0],
      "upkeep_failures": disk.upkeepFailures.values.reduce(0, +),
    ])
    for (errno, count) in disk.upkeepFailures { counts.add(["upkeep_\(errno.rawValue)": count]) }
    for (name, count) in counts.all { print(name, count) }
    print("end")
    try cache.close()
  }

  /// Judges a directory that no other process uses any more, after it has opened a cache on it.
  ///
  /// A mount may have outdated attributes of another machine's files. Then the directory is checked
  /// again until there is no violation, or until the cached attributes have expired.
  static func check(
    _ directory: String, _ options: StressOptions, _ counts: StressCounts
  ) throws {
    let patience = Duration.seconds(options.other == nil ? 0 : 30)
    let deadline = MonotonicTime.now.advanced(by: patience)
    let temporaryCount = StressWalk(directory).temporaryCount
    while true {
      let verdict = try verdict(on: directory, options)
      guard verdict.findings.isEmpty || MonotonicTime.now >= deadline else {
        counts.add(["looked_again": 1])
        sleep(1)
        continue
      }
      for finding in verdict.findings { counts.violation(finding.name, finding.details) }
      counts.add([
        "bytes_reopened": verdict.walk.byteCount, "entries_reopened": verdict.walk.files.count,
        "temporaries_found": temporaryCount,
      ])
      return
    }
  }

  /// The result of one check of a directory.
  private struct Verdict {
    let walk: StressWalk
    var findings: [(name: String, details: String)] = []

    mutating func find(_ name: String, _ details: String) { findings.append((name, details)) }
  }

  private static func verdict(on directory: String, _ options: StressOptions) throws -> Verdict {
    let disk = try DiskCache(
      directory: directory, configuration: DiskCache.Configuration(sizeLimit: options.limit))
    _ = try disk.count()
    // A process that has stored nothing evicts for no limit.
    try disk.store([0], forKey: "judge")
    try disk.remove(forKey: "judge")
    try disk.flush()
    var verdict = Verdict(walk: StressWalk(directory))
    let walk = verdict.walk
    let now = WallClock.system.now().adding(seconds: Int64(options.shift))
    for file in walk.files { check(file, disk, now, isCoarse: options.other != nil, &verdict) }
    let (count, byteCount) = (try disk.count(), try disk.totalSize())
    if count != walk.files.count || byteCount != walk.byteCount {
      verdict.find(
        "totals_wrong",
        "the index has \(count) entries of \(byteCount) bytes, the directory \(walk.files.count)"
          + " of \(walk.byteCount)")
    }
    if walk.temporaryCount > 0 {
      verdict.find("temporaries", "\(walk.temporaryCount) are left")
    }
    if walk.byteCount > options.limitAtRest {
      verdict.find("over_limit", "\(walk.byteCount) bytes of \(options.limit)")
    }
    try disk.close()
    return verdict
  }

  private static func check(
    _ file: StressWalk.File, _ disk: DiskCache, _ now: Timestamp, isCoarse: Bool,
    _ verdict: inout Verdict
  ) {
    guard let bytes = verdict.walk.content(of: file) else { return }
    guard let value = StressValue(bytes) else {
      return verdict.find("torn_values", "left as \(file.name), \(bytes.count) bytes")
    }
    let path = disk.path(forKey: StressWorker.key(value.key))
    if !path.hasSuffix("/" + file.name) { verdict.find("names_wrong", file.name) }
    if !value.admits(expiry: file.expiry, at: now, isCoarse: isCoarse) {
      verdict.find("foreign_expiries", "\(file.name): \(file.expiry), \(value)")
    }
  }
}
