import Glibc
import Larder

/// The benchmark of a burst of stores that other threads write: what a store costs the caller, that
/// reads see each value at once, and how long writing takes.
///
/// Raw calls and stores that write themselves come beside it, each in a new directory on the same
/// disk.
enum BehindBenchmark {
  private static let names = ["raw", "direct", "behind", "read", "drain"]

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    let count = options.entries.first ?? 10_000
    let byteCount = options.byteCounts.first ?? 1 << 10
    // By the disks on which this matters; on another one, the time that is left shrinks.
    let expected = Double(count) * 1e-3
    let progress = Progress("behind", seconds: expected * Double(options.rounds))
    var samples: [String: [Double]] = [:]
    for round in 1...options.rounds {
      progress.begin("round \(round) of \(options.rounds)", seconds: expected)
      for (name, time) in try measure(options, count, byteCount) {
        samples[name, default: []].append(time / .microseconds(1) / Double(count))
      }
    }
    progress.end()
    print(options.isJSON ? json(samples, count, byteCount) : table(samples, count, byteCount))
  }

  private static func measure(
    _ options: DiskOptions, _ count: Int, _ byteCount: Int
  ) throws -> [(String, Duration)] {
    let keys = BenchmarkKeys.make(count)
    let value = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let raw = measureRaw(options, keys, value)
    let direct = try withCache(options, limit: nil) { cache in
      try ContinuousClock().measure { for key in keys { try cache.store(value, forKey: key) } }
    }
    return try withCache(options, limit: 2 * count * max(byteCount, 1)) { cache in
      let clock = ContinuousClock()
      let behind = try clock.measure { for key in keys { try cache.store(value, forKey: key) } }
      let end = clock.now
      let read = try clock.measure {
        for key in keys {
          let found = try cache.value(forKey: key)
          precondition(found == value, "a value is missing")
        }
      }
      try cache.flush()
      let drain = clock.now - end
      precondition(cache.statistics.lostStores == 0, "a value was lost")
      return [
        ("raw", raw), ("direct", direct), ("behind", behind), ("read", read), ("drain", drain),
      ]
    }
  }

  private static func measureRaw(
    _ options: DiskOptions, _ keys: [String], _ value: [UInt8]
  ) -> Duration {
    let directory = BenchmarkDirectory(options, "raw")
    let descriptor = RawCalls.openDirectory(directory.path)
    defer {
      close(descriptor)
      directory.removeAll()
    }
    let (names, now) = (RawNames(ofKeys: keys), Int(time(nil)))
    let times = [timespec(tv_sec: now, tv_nsec: 1), timespec(tv_sec: now + 604_800, tv_nsec: 1)]
    return ContinuousClock().measure {
      for index in keys.indices { unsafe RawCalls.store(descriptor, names[index], value, times) }
    }
  }

  private static func withCache<Result>(
    _ options: DiskOptions, limit: Int?, _ body: (DiskCache) throws -> Result
  ) throws -> Result {
    let directory = BenchmarkDirectory(options, "behind")
    defer { directory.removeAll() }
    var configuration = DiskCache.Configuration(sizeLimit: 1 << 50)
    configuration.writeBehindLimit = limit
    let cache = try DiskCache(directory: directory.path, configuration: configuration)
    _ = try cache.count()
    let result = try body(cache)
    try cache.close()
    return result
  }

  private static func table(
    _ samples: [String: [Double]], _ count: Int, _ byteCount: Int
  ) -> String {
    let titles = [
      "raw: create, write, utimensat, close, rename", "direct: a store that writes",
      "behind: a store that other threads write", "read: a read of each value at once",
      "drain: until all are written",
    ]
    let lines = zip(names, titles).map { name, title in
      let text = (samples[name] ?? []).median.rounded(to: 2)
      return String(repeating: " ", count: max(0, 10 - text.count)) + text + "  " + title
    }
    return
      (["µs for each of \(count) values of \(ByteSize.text(byteCount)), medians of the rounds"]
      + lines).joined(separator: "\n")
  }

  private static func json(
    _ samples: [String: [Double]], _ count: Int, _ byteCount: Int
  ) -> String {
    let figures = names.map { "\"\($0)_us\": \((samples[$0] ?? []).median.rounded(to: 3))" }
    return "{\"schema\": 1, \"entries\": \(count), \"bytes\": \(byteCount), "
      + figures.joined(separator: ", ") + "}"
  }
}
