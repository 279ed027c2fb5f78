import Glibc
import Larder

/// The benchmark of the longest time that the engine's lock and the memory tier's lock are held in
/// each operation on a full directory.
///
/// The processor time of a hold is the time of its work, and also the time for which the host of a
/// virtual machine gave the processor to another one. Work recurs in every round, and the host
/// interrupts another hold in each. So of each operation the round with the shortest longest hold
/// counts. The longest of all rounds stands beside it.
///
/// The kernel frees the inodes of unlinked files in the time of whatever thread runs, up to 3 ms at
/// once, which no round is without. So what unlinks is compared with `raw unlinks`: the longest of
/// as many spins of some microseconds, each after a raw unlink.
///
/// It needs a build with LARDER_INSTRUMENT=HOLDS, because the measurement would slow down other
/// builds.
/// `Tests/Reliability/holds` makes one.
enum HoldsBenchmark {
  static let usage = """
    usage: LarderBench holds [--entries N] [--rounds N] [--json] [--directory DIR]
                             [--only engine|memory]

      --entries N       entries; the default is 1,000,000
      --rounds N        rounds at most, of which for each operation the best counts; the default
                        is 5, and each runs what was above 2 ms in all before
      --directory DIR   where the files are made and removed again; the default is $TMPDIR or /tmp
      --only TIER       measures the lock of one tier only; that of memory makes no files
    """

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    #if LARDER_HOLDS
      var run = HoldsRun(options, count: options.entries.first ?? 1_000_000)
      try run.measureAll()
      print(options.isJSON ? run.json : run.table)
    #else
      _ = options
      fail("LarderBench holds: this build does not measure; set LARDER_INSTRUMENT=HOLDS", 2)
    #endif
  }
}

#if LARDER_HOLDS
  /// A run on directories of one size.
  private struct HoldsRun {
    enum Part: CaseIterable {
      case use, limit, expiry, memory, lifetime
    }

    struct Result {
      let part: Part
      let name: String
      let lock: String
      /// The longest hold of the best round.
      var longest: HoldRecord.Longest
      /// The most processor time of a hold in any round.
      var worst: Int64
    }

    private let options: DiskOptions
    private let count: Int
    private let keys: [String]
    private let names: RawNames
    private var part = Part.use
    private var results: [Result] = []

    /// Whether each operation of a part has had a round without a hold of more than 2 ms, or than
    /// raw unlinks show. First stores in memory do not count: they wait for pages from the system.
    private func isWithinBound(_ part: Part) -> Bool {
      let raw = results.first { $0.name == "raw unlinks" }?.longest.processor ?? 0
      let own = results.filter { $0.part == part }
      return !own.isEmpty
        && own.allSatisfy {
          $0.name == "memory store" || $0.longest.processor <= max(2_000_000, raw)
        }
    }

    init(_ options: DiskOptions, count: Int) {
      self.options = options
      self.count = count
      keys = options.wants("engine") ? (0..<count).map { "https://example.com/item/\($0)" } : []
      names = RawNames(ofKeys: keys)
    }

    mutating func measureAll() throws {
      let parts = Part.allCases.filter {
        options.wants($0 == .memory || $0 == .lifetime ? "memory" : "engine")
      }
      let expected = Double(count) * 60e-6
      let progress = Progress("holds", seconds: expected * Double(parts.count))
      for round in 1...options.rounds {
        for part in parts where !isWithinBound(part) {
          progress.begin("\(part), round \(round) of \(options.rounds)", seconds: expected)
          self.part = part
          switch part {
          case .use: try measureUse()
          case .limit: try measureLimit()
          case .expiry: try measureExpiry()
          case .memory: measureMemory()
          case .lifetime: measureFirstLifetime()
          }
        }
      }
      progress.end()
    }

    /// Runs an operation and records the longest hold of a lock in it.
    private mutating func measure(
      _ name: String, _ record: HoldRecord = .engine, _ operation: () throws -> Void
    ) rethrows {
      _ = record.take()
      try operation()
      let longest = record.take()
      guard let place = results.firstIndex(where: { $0.name == name }) else {
        results.append(
          Result(
            part: part, name: name, lock: record === HoldRecord.engine ? "engine" : "memory",
            longest: longest, worst: longest.processor))
        return
      }
      results[place].worst = max(results[place].worst, longest.processor)
      if longest.processor < results[place].longest.processor { results[place].longest = longest }
    }

    /// Creates entries without content, with given access times; complete ones if they are to be
    /// read.
    private func filled(
      expiry: Int = 1 << 31 - 1, isComplete: Bool = false, used: (Int) -> Int
    ) -> BenchmarkDirectory {
      let directory = BenchmarkDirectory(options, "holds")
      // The hash is the XXH64 of no bytes.
      let attribute = { Array("1 70bbN1HY6Zk never =\(keys[$0])".utf8) }
      directory.fill(
        names, byteCount: 0, accesses: (0..<count).map(used), expiry: expiry,
        attribute: isComplete ? attribute : nil)
      return directory
    }
  }

  extension HoldsRun {
    private func open(
      _ directory: BenchmarkDirectory, countLimit: Int? = nil
    ) throws -> DiskCache {
      var configuration = DiskCache.Configuration(sizeLimit: nil)
      configuration.countLimit = countLimit
      return try DiskCache(directory: directory.path, configuration: configuration)
    }

    /// Measures operations on a directory without a limit, whose entries were used at random times.
    private mutating func measureUse() throws {
      let (start, count, keys) = (Int(time(nil)) - 200_000, count, keys)
      let directory = filled(isComplete: true) { _ in start + Int.random(in: 0..<100_000) }
      defer { directory.removeAll() }
      let cache = try open(directory)
      try measure("scan") { _ = try cache.count() }
      // Each use has to be written to disk, and waits for the drain.
      try measure("read") { for key in keys { _ = try cache.value(forKey: key) } }
      try measure("drain") { try cache.flush() }
      let some = keys.shuffled().prefix(10_000)
      try measure("read again") { for key in some { _ = try cache.value(forKey: key) } }
      try measure("store over") { for key in some { try cache.store([1], forKey: key) } }
      try measure("store new") { for key in some { try cache.store([1], forKey: "new \(key)") } }
      try measure("remove") { for key in some { try cache.remove(forKey: key) } }
      measure("preview") {
        var index = cache.engine.entryIndex
        _ = index.take(TrimPlan(for: .count(count / 2), at: cache.engine.now, cache.configuration))
      }
      try measure("use after a preview") {
        for key in keys.suffix(10_000) { _ = try cache.value(forKey: key) }
      }
      try measure("trim to half") { _ = try cache.trim(toCount: count / 2) }
      try measure("remove all") { _ = try cache.removeAll() }
      try measure("close") { try cache.close() }
    }

    /// Measures a directory over its limit, whose entries were all used in one second, and what
    /// the kernel takes of a thread that unlinks those that are left.
    private mutating func measureLimit() throws {
      let (start, count) = (Int(time(nil)) - 200_000, count)
      let directory = filled { _ in start }
      defer { directory.removeAll() }
      let cache = try open(directory, countLimit: count - 1)
      try measure("end of a scan over the limit") {
        _ = try cache.count()
        // A process that has stored nothing evicts nothing.
        try cache.store([], forKey: "first")
        try cache.flush()
      }
      let more = count - 1 - (try cache.count())
      try measure("stores up to a purge") {
        for number in 0...more { try cache.store([], forKey: "\(number)") }
        try cache.flush()
      }
      let left = try cache.entries().map(\.name)
      try cache.close()
      measure("raw unlinks", .memory) {
        for name in left {
          if unsafe unlink("\(directory.path)/\(name)") != 0 { RawCalls.failed("unlink") }
          let start = HoldRecord.Start()
          _ = (0..<3_000).reduce(name.utf8.count, ^)
          HoldRecord.memory.note(start, #fileID, #line)
        }
      }
    }

    /// Measures a directory whose entries have all expired.
    private mutating func measureExpiry() throws {
      let start = Int(time(nil)) - 200_000
      let directory = filled(expiry: start + 1) { start + $0 % 1000 }
      defer { directory.removeAll() }
      let cache = try open(directory, countLimit: 2 * count)
      try measure("end of a scan of expired") {
        _ = try cache.count()
        try cache.flush()
      }
      try cache.close()
    }

    /// Measures a memory tier with the same number of values.
    private mutating func measureMemory() {
      let count = count
      let cache = MemoryCache<Int, Int>(.init(countLimit: 2 * count))
      measure("memory store", .memory) {
        for key in 0..<count { cache.store(key, forKey: key, expiration: .days(1)) }
      }
      measure("memory hit", .memory) {
        for key in 0..<count { _ = cache.value(forKey: key) }
      }
      measure("memory sweep", .memory) { _ = cache.removeExpired() }
      measure("memory trim to half", .memory) { _ = cache.trim(toCount: count / 2) }
      measure("memory limit of a quarter", .memory) { cache.countLimit = count / 4 }
      // Little is left in much memory, which is given back.
      measure("memory trim to a hundredth", .memory) { _ = cache.trim(toCount: count / 100) }
      measure("memory remove all", .memory) { _ = cache.removeAll() }
    }

    /// Measures a memory tier whose values get a lifetime late, and leave only partly.
    private mutating func measureFirstLifetime() {
      let count = count
      let cache = MemoryCache<Int, Int>()
      for key in 0..<count { cache.store(key, forKey: key) }
      // From then on the times of all values are recorded.
      measure("memory first lifetime", .memory) {
        cache.store(0, forKey: count, expiration: .days(1))
      }
      // The most values that are moved to less memory.
      measure("memory trim to a ninth", .memory) { _ = cache.trim(toCount: count / 9) }
    }
  }

  extension HoldsRun {
    var table: String {
      let head = [
        "operation".padded(32), "lock  ", "place".padded(48), "worst ms  ", "longest ms",
        "elapsed ms",
      ]
      let rows = results.map { result in
        [
          result.name.padded(32), result.lock, result.longest.place.padded(48),
          Self.milliseconds(result.worst).padded(10),
          Self.milliseconds(result.longest.processor).padded(10),
          Self.milliseconds(result.longest.elapsed).padded(10),
        ]
      }
      return ([head] + rows).map { $0.joined(separator: "  ") }.joined(separator: "\n")
    }

    var json: String {
      let rows = results.map {
        """
            {"name": "\($0.name)", "lock": "\($0.lock)", "entries": \(count), \
        "longest_ms": \(Self.milliseconds($0.longest.processor)), \
        "worst_ms": \(Self.milliseconds($0.worst)), \
        "elapsed_ms": \(Self.milliseconds($0.longest.elapsed)), "place": "\($0.longest.place)"}
        """
      }
      return """
        {
          "schema": 1,
          "benchmark": "holds",
          "results": [
        \(rows.joined(separator: ",\n"))
          ]
        }
        """
    }

    private static func milliseconds(_ nanoseconds: Int64) -> String {
      (Double(nanoseconds) / 1_000_000).rounded(to: 2)
    }
  }

  extension String {
    fileprivate func padded(_ width: Int) -> String {
      self + String(repeating: " ", count: max(0, width - count))
    }
  }
#endif
