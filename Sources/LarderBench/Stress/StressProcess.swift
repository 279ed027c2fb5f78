import Glibc
import Larder

/// A process that works on the directory together with others.
enum StressProcess {
  static func configuration(_ options: StressOptions) -> CacheConfiguration {
    var configuration = CacheConfiguration()
    configuration.memoryCostLimit = options.limit / 8
    configuration.disk.sizeLimit = options.limit
    configuration.disk.writeBehindLimit = options.writeBehind
    configuration.disk.clock = options.clock
    return configuration
  }

  /// Works for as long as it is told, or until it is killed.
  static func run(_ options: StressOptions, in directory: String) throws {
    let isWorker = options.role == .worker
    let counts = StressCounts(speaksAtOnce: !isWorker)
    let cache = try Cache(
      directory: directory, coder: .bytes, configuration: configuration(options))
    if isWorker {
      // The limit holds from the first store on only if the scan is over.
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

  /// Comes to rest, waits for the others to do so and tells what happened and what the index says.
  private static func report(_ cache: Cache<[UInt8]>, _ counts: StressCounts) throws {
    try cache.flush()
    print("rest")
    fflush(nil)
    guard readLine() != nil else { return }
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

  /// Judges what is in a directory that nobody else uses any more, after opening a cache on it.
  static func check(
    _ directory: String, _ options: StressOptions, _ counts: StressCounts
  ) throws {
    let before = StressWalk(directory)
    let disk = try DiskCache(
      directory: directory, configuration: DiskCache.Configuration(sizeLimit: options.limit))
    _ = try disk.count()
    try disk.flush()
    let walk = StressWalk(directory)
    let now = WallClock.system.now().adding(seconds: Int64(options.shift))
    for file in walk.files { check(file, walk, disk, now, isCoarse: options.other != nil, counts) }
    let (count, byteCount) = (try disk.count(), try disk.totalSize())
    if count != walk.files.count || byteCount != walk.byteCount {
      counts.violation(
        "totals_wrong",
        "the index has \(count) entries of \(byteCount) bytes, the directory \(walk.files.count)"
          + " of \(walk.byteCount)")
    }
    if walk.temporaryCount > 0 {
      counts.violation("temporaries", "\(walk.temporaryCount) are left")
    }
    if walk.byteCount > options.limitAtRest {
      counts.violation("over_limit", "\(walk.byteCount) bytes of \(options.limit)")
    }
    counts.add([
      "bytes_reopened": walk.byteCount, "entries_reopened": walk.files.count,
      "temporaries_found": before.temporaryCount,
    ])
    try disk.close()
  }

  private static func check(
    _ file: StressWalk.File, _ walk: StressWalk, _ disk: DiskCache, _ now: Timestamp,
    isCoarse: Bool, _ counts: StressCounts
  ) {
    guard let bytes = walk.content(of: file) else { return }
    guard let value = StressValue(bytes) else {
      return counts.violation("torn_values", "\(file.name), \(bytes.count) bytes")
    }
    let path = disk.path(forKey: StressWorker.key(value.key))
    if !path.hasSuffix("/" + file.name) { counts.violation("names_wrong", file.name) }
    if !value.admits(expiry: file.expiry, at: now, isCoarse: isCoarse) {
      counts.violation("foreign_expiries", "\(file.name): \(file.expiry), \(value)")
    }
  }
}
