import Glibc
import Larder

/// A measurement of values of one size: each is stored, replaced, read, missed and removed.
struct DiskMeasurement {
  let options: DiskOptions
  let byteCount: Int
  let count: Int
  private let ours: BenchmarkDirectory
  private let least: BenchmarkDirectory
  private let same: BenchmarkDirectory
  private let leastRaw: Int32
  private let sameRaw: Int32
  private let keys: [String]
  private let names: RawNames
  private let value: [UInt8]
  /// For each key, the attribute that the cache writes.
  private var attributes: [[UInt8]] = []
  private let times: [timespec]
  private let interleaving: Interleaving
  private(set) var results: [DiskResult] = []
  private var round = 0

  init(_ options: DiskOptions, byteCount: Int, count: Int) throws {
    self.options = options
    interleaving = Interleaving(isByTypicalPiece: options.isTypical)
    self.byteCount = byteCount
    self.count = count
    ours = BenchmarkDirectory(options, "ours")
    least = BenchmarkDirectory(options, "least")
    same = BenchmarkDirectory(options, "same")
    leastRaw = RawCalls.openDirectory(least.path)
    sameRaw = RawCalls.openDirectory(same.path)
    keys = BenchmarkKeys.make(count)
    names = RawNames(ofKeys: keys)
    value = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let now = Int(time(nil))
    times = [timespec(tv_sec: now, tv_nsec: 1), timespec(tv_sec: now + 604_800, tv_nsec: 1)]
    attributes = try storedAttributes()
  }

  /// Stores and removes every value once, and returns the attributes that the files had.
  private func storedAttributes() throws -> [[UInt8]] {
    let cache = try open()
    let directory = RawCalls.openDirectory(ours.path)
    defer { close(directory) }
    for key in keys { try cache.store(value, forKey: key) }
    let attributes = keys.indices.map { unsafe RawCalls.attribute(directory, names[$0]) }
    for key in keys { try cache.remove(forKey: key) }
    try cache.close()
    return attributes
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
      try readFirst(fresh)
      try read(fresh)
      try readInThreads(fresh)
      try miss(fresh)
      try fresh.close()
    }
    if options.wants("miss-exclusive") { try missInExclusive() }
    if options.wants("store-behind") { try storeBehind() }
    let last = try open()
    try remove(last)
    try last.close()
    if options.only.contains(where: { $0.hasSuffix("-durable") }) { try storeDurably() }
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
    close(leastRaw)
    close(sameRaw)
    for directory in [ours, least, same] { directory.removeAll() }
  }
}

extension DiskMeasurement {
  private mutating func store(_ cache: DiskCache, _ name: String) throws {
    let times = try interleaving.run(count) { range in
      for index in range { try cache.store(value, forKey: keys[index]) }
    } least: { range in
      for index in range { unsafe RawCalls.store(leastRaw, names[index], value, self.times) }
    } same: { range in
      for index in range {
        unsafe RawCalls.storeChecked(
          sameRaw, names[index], value, attributes[index], self.times)
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

  /// Measures durable stores, new and over others, and removes the values. It is left out unless
  /// asked for, because it takes as long as the disk needs for four syncs a value.
  private mutating func storeDurably() throws {
    var configuration = DiskCache.Configuration(sizeLimit: 1 << 50)
    configuration.durability = .durable
    let cache = try DiskCache(directory: ours.path, configuration: configuration)
    _ = try cache.count()
    for name in ["store-durable", "store-over-durable"] {
      let times = try interleaving.run(count) { range in
        for index in range { try cache.store(value, forKey: keys[index]) }
      } least: { range in
        for index in range {
          unsafe RawCalls.storeDurably(leastRaw, names[index], value, self.times)
        }
      }
      add(name, times)
    }
    try cache.removeAll()
    try cache.close()
    for index in keys.indices { unsafe RawCalls.remove(leastRaw, names[index]) }
  }

  /// Measures first reads, of which the cache checks the content.
  private mutating func readFirst(_ cache: DiskCache) throws {
    let directory = RawCalls.openDirectory(ours.path)
    defer { close(directory) }
    let times = try interleaving.run(count) { range in
      try readOurs(cache, range)
    } least: { range in
      readRaw(directory, range)
    } same: { range in
      for index in range {
        let bytes = unsafe RawCalls.readChecked(directory, names[index])
        precondition(bytes.count == byteCount, "a file is short")
      }
    }
    add("read-first", times)
  }

  /// Measures later reads.
  private mutating func read(_ cache: DiskCache) throws {
    let directory = RawCalls.openDirectory(ours.path)
    defer { close(directory) }
    let times = try interleaving.run(count) { range in
      try readOurs(cache, range)
    } least: { range in
      readRaw(directory, range)
    }
    add("read", times)
  }

  private func readOurs(_ cache: DiskCache, _ range: Range<Int>) throws {
    for index in range {
      let bytes = try cache.value(forKey: keys[index])
      precondition(bytes?.count == byteCount, "a value is missing")
    }
  }

  private func readRaw(_ directory: Int32, _ range: Range<Int>) {
    for index in range {
      let bytes = unsafe RawCalls.read(directory, names[index])
      precondition(bytes.count == byteCount, "a file is short")
    }
  }

  /// Measures misses of new names, for which the kernel searches the directory, and then of the
  /// same names, which are in the kernel's cache of names.
  private mutating func miss(_ cache: DiskCache) throws {
    let keys = BenchmarkKeys.make(count, kind: 4 * round + 1)
    let names = RawNames(ofKeys: BenchmarkKeys.make(count, kind: 4 * round + 2))
    for name in ["miss", "miss-repeated"] { add(name, try missAll(cache, keys, names)) }
  }

  private mutating func missInExclusive() throws {
    let cache = try open(.exclusive)
    // New names for the raw side, because a first miss is the usual one. The index does not
    // distinguish.
    let names = RawNames(ofKeys: BenchmarkKeys.make(count, kind: 4 * round + 3))
    add("miss-exclusive", try missAll(cache, BenchmarkKeys.make(count, kind: 4), names))
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
    } least: { range in
      for index in range { unsafe RawCalls.miss(directory, names[index]) }
    }
  }

  private mutating func remove(_ cache: DiskCache) throws {
    let times = try interleaving.run(count) { range in
      for index in range {
        let isRemoved = try cache.remove(forKey: keys[index])
        precondition(isRemoved, "nothing to remove")
      }
    } least: { range in
      for index in range { unsafe RawCalls.remove(leastRaw, names[index]) }
    } same: { range in
      for index in range { unsafe RawCalls.remove(sameRaw, names[index]) }
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
      } least: { _ in
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
