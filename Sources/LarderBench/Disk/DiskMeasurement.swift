import Glibc
import Larder

/// A measurement of values of one size: each is stored, replaced, read, missed and removed.
struct DiskMeasurement {
  let options: DiskOptions
  let byteCount: Int
  let count: Int
  private let ours: BenchmarkDirectory
  private let theirs: BenchmarkDirectory
  private let raw: Int32
  private let keys: [String]
  private let names: RawNames
  private let value: [UInt8]
  private let attribute: [UInt8]
  private let times: [timespec]
  private let interleaving: Interleaving
  private(set) var results: [DiskResult] = []
  private var round = 0

  init(_ options: DiskOptions, byteCount: Int, count: Int) {
    self.options = options
    interleaving = Interleaving(isByTypicalPiece: options.isTypical)
    self.byteCount = byteCount
    self.count = count
    ours = BenchmarkDirectory(options, "ours")
    theirs = BenchmarkDirectory(options, "raw")
    raw = RawCalls.openDirectory(theirs.path)
    keys = Self.keys(count, "item")
    names = RawNames(ofKeys: keys)
    value = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    // As long as the attribute that the cache writes for such a key.
    attribute = Array("1 0123456789abcdef 604800 =\(keys[0])".utf8)
    let now = Int(time(nil))
    times = [timespec(tv_sec: now, tv_nsec: 1), timespec(tv_sec: now + 604_800, tv_nsec: 1)]
  }

  private static func keys(_ count: Int, _ kind: String) -> [String] {
    (0..<count).map { "https://example.com/\(kind)/\(1_000_000 + $0)" }
  }

  /// Opens a cache that has a limit but never reaches it, so that it does all the work for a limit.
  private func open(
    _ mode: DiskCache.Mode = .shared, writeBehindLimit: Int? = nil
  ) throws -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: 1 << 50)
    configuration.writeBehindLimit = writeBehindLimit
    configuration.mode = mode
    let cache = try DiskCache(directory: ours.path, configuration: configuration)
    _ = try cache.count()
    return cache
  }

  /// Runs one round on all values. Each step needs the result of the step before.
  mutating func runRound() throws {
    let cache = try open()
    try store(cache, "store-new")
    try store(cache, "store-over")
    try cache.close()
    if options.wants("read", "read-first", "miss", "miss-repeated") {
      let fresh = try open()
      // On sshfs and the like, a process finds only the values that it stored itself.
      if try fresh.weakerPromises().contains(where: { $0.name == "sharing" }) {
        for key in keys { try fresh.store(value, forKey: key) }
      }
      try read(fresh, "read-first")
      try read(fresh, "read")
      try readInThreads(fresh)
      try miss(fresh)
      try fresh.close()
    }
    if options.wants("miss-exclusive") { try missInExclusive() }
    if options.wants("store-behind") { try storeBehind() }
    let last = try open()
    try remove(last)
    try last.close()
    round += 1
  }

  mutating func add(_ name: String, _ times: Interleaving.Times, threads: Int = 1) {
    guard options.wants(name) else { return }
    let index =
      results.firstIndex { $0.name == name && $0.threads == threads }
      ?? {
        results.append(
          DiskResult(name: name, entries: count, byteCount: byteCount, threads: threads))
        return results.count - 1
      }()
    results[index].add(times, count: count)
  }

  func cleanUp() {
    close(raw)
    ours.removeAll()
    theirs.removeAll()
  }
}

extension DiskMeasurement {
  private mutating func store(_ cache: DiskCache, _ name: String) throws {
    let times = try interleaving.run(count) { range in
      for index in range { try cache.store(value, forKey: keys[index]) }
    } raw: { range in
      for index in range {
        unsafe RawCalls.store(raw, names[index], value, attribute, self.times)
      }
    }
    add(name, times)
  }

  /// Measures the time until a store returns. The backlog holds a whole round, and is written
  /// between rounds.
  private mutating func storeBehind() throws {
    let cache = try open(writeBehindLimit: max(1, 2 * byteCount * count))
    try store(cache, "store-behind")
    try cache.close()
  }

  private mutating func read(_ cache: DiskCache, _ name: String) throws {
    let directory = RawCalls.openDirectory(ours.path)
    defer { close(directory) }
    let times = try interleaving.run(count) { range in
      for index in range {
        let bytes = try cache.value(forKey: keys[index])
        precondition(bytes?.count == byteCount, "a value is missing")
      }
    } raw: { range in
      for index in range {
        let bytes = unsafe RawCalls.read(directory, names[index])
        precondition(bytes.count == byteCount, "a file is short")
      }
    }
    add(name, times)
  }

  /// Measures misses of new names, for which the kernel searches the directory, and then of the
  /// same names, which are in the kernel's cache of names.
  private mutating func miss(_ cache: DiskCache) throws {
    let keys = Self.keys(count, "miss\(round)")
    let names = RawNames(ofKeys: Self.keys(count, "none\(round)"))
    for name in ["miss", "miss-repeated"] { add(name, try missAll(cache, keys, names)) }
  }

  private mutating func missInExclusive() throws {
    let cache = try open(.exclusive)
    // New names for the raw side, because a first miss is the usual one. The index does not
    // distinguish.
    let names = RawNames(ofKeys: Self.keys(count, "unknown\(round)"))
    add("miss-exclusive", try missAll(cache, Self.keys(count, "lack"), names))
    try cache.close()
  }

  private func missAll(
    _ cache: DiskCache, _ keys: [String], _ names: RawNames
  ) throws -> Interleaving.Times {
    let directory = RawCalls.openDirectory(ours.path)
    defer { close(directory) }
    return try interleaving.run(count) { range in
      for index in range {
        let value = try cache.value(forKey: keys[index])
        precondition(value == nil, "a value is there")
      }
    } raw: { range in
      for index in range { unsafe RawCalls.miss(directory, names[index]) }
    }
  }

  private mutating func remove(_ cache: DiskCache) throws {
    let times = try interleaving.run(count) { range in
      for index in range {
        let isRemoved = try cache.remove(forKey: keys[index])
        precondition(isRemoved, "nothing to remove")
      }
    } raw: { range in
      for index in range { unsafe RawCalls.remove(raw, names[index]) }
    }
    add("remove", times)
  }

  /// Measures reads by several threads. Together they read all values once.
  private mutating func readInThreads(_ cache: DiskCache) throws {
    let directory = RawCalls.openDirectory(ours.path)
    defer { close(directory) }
    for threads in options.threads where threads > 1 {
      let (keys, names, count) = (keys, names, count)
      let times = interleaving.run(1) { _ in
        BenchmarkThreads.run(threads) { number in
          for index in 0..<count / threads {
            do {
              let bytes = try cache.value(forKey: keys[(index * threads + number) % count])
              precondition(bytes != nil, "a value is missing")
            } catch { fail("LarderBench: \(error)", 4) }
          }
        }
      } raw: { _ in
        BenchmarkThreads.run(threads) { number in
          for index in 0..<count / threads {
            _ = unsafe RawCalls.read(directory, names[(index * threads + number) % count])
          }
        }
      }
      add("read", times, threads: threads)
    }
  }
}
