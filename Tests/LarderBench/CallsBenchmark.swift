import Glibc
import Larder

/// Operations between two marks, so that a tracer can count their system calls.
enum CallsBenchmark {
  static let usage = """
    usage: LarderBench calls fill|exclusive|read-only|fixture DIR

      Run under strace: what lies between the marks larder-begin and larder-end is counted.
    """

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    guard arguments.count == 2 else { throw UsageError() }
    let directory = arguments[1]
    switch arguments[0] {
    case "fill": try fill(directory)
    case "exclusive": try missExclusively(directory)
    case "read-only": try readAll(directory, .readOnly)
    case "fixture": try readAll(directory, .fixture)
    default: throw UsageError()
    }
  }

  /// Makes a system call that changes nothing; a trace shows the mark as its argument.
  private static func mark(_ name: String) {
    _ = unsafe access("/larder-\(name)", F_OK)
  }

  private static let entryCount = 200

  /// Stores entries. A fourth of them have expired by now.
  private static func fill(_ directory: String) throws {
    var configuration = DiskCache.Configuration()
    configuration.clock = ManualClock(WallClock.system.now().adding(seconds: -3600)).wallClock
    let disk = try DiskCache(directory: directory, configuration: configuration)
    for number in 0..<entryCount {
      try disk.store(
        [UInt8](repeating: UInt8(number % 251), count: 100 * number), forKey: "\(number)",
        expiration: number % 4 == 0 ? .seconds(60) : .days(7), extendedData: [1, 2, 3])
    }
    try disk.close()
  }

  private static func missExclusively(_ directory: String) throws {
    var configuration = DiskCache.Configuration()
    configuration.mode = .exclusive
    let disk = try DiskCache(directory: directory, configuration: configuration)
    let count = try disk.count()
    try disk.flush()
    var hits = 0
    // The first read checks the directory's identity, which is done once a second at most.
    mark("begin")
    for number in 0..<10_000 where try disk.value(forKey: "missing \(number)") != nil { hits += 1 }
    mark("end")
    print("  \(count) entries; \(disk.statistics.missCount) misses, \(hits) hits")
    try disk.close()
  }

  private static func readAll(_ directory: String, _ mode: DiskCache.Mode) throws {
    var configuration = CacheConfiguration()
    configuration.disk.mode = mode
    configuration.disk.recencyGranularity = .zero
    mark("begin")
    let cache = try Cache(directory: directory, coder: .bytes, configuration: configuration)
    var hits = 0
    for number in 0..<2 * entryCount {
      if try cache.value(forKey: "\(number)") != nil { hits += 1 }
      _ = try cache.disk.read(forKey: "\(number)")
      _ = try cache.disk.entry(forKey: "\(number)")
      _ = try cache.contains("\(number)")
    }
    let count = try cache.disk.count()
    let damaged = try cache.disk.verify().damaged.count
    _ = try cache.disk.survey()
    try cache.flush()
    try cache.close()
    mark("end")
    print("\(count) entries, \(hits) hits, \(damaged) damaged")
  }
}
