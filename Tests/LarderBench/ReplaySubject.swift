import Glibc
import Larder

/// The cache of a replay: one tier or both.
struct ReplaySubject {
  private enum Tiers {
    case memory(MemoryCache<CacheKey, [UInt8]>)
    case disk(DiskCache)
    case both(Cache<[UInt8]>)
  }

  private var tiers: Tiers
  private let directory: String
  private let removesDirectory: Bool
  private let options: ReplayOptions
  /// The clock of a replay with a rate.
  private let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
  /// The time from which on uses that are due have to be on the disk.
  private var nextFlush: Timestamp

  init(_ options: ReplayOptions) throws {
    removesDirectory = options.directory == nil
    directory = options.directory ?? Self.temporaryDirectory()
    self.options = options
    nextFlush = clock.now
    tiers = try Self.tiers(options, directory, clock)
  }

  private static func tiers(
    _ options: ReplayOptions, _ directory: String, _ clock: ManualClock
  ) throws -> Tiers {
    if options.diskLimit == nil, options.countLimit == nil {
      return .memory(MemoryCache(.init(countLimit: options.memoryCount)))
    }
    var configuration = CacheConfiguration(sizeLimit: options.diskLimit)
    configuration.memoryCountLimit = options.memoryCount
    configuration.disk.countLimit = options.countLimit
    configuration.disk.expiration = .never
    configuration.disk.recencyGranularity = .seconds(options.granularity)
    configuration.disk.evictionOrder = options.isByValue ? .leastValuable : .leastRecentlyUsed
    if options.rate != nil { configuration.disk.clock = clock.wallClock }
    if options.memoryCount == nil {
      let disk = try DiskCache(directory: directory, configuration: configuration.disk)
      // Counted, because the limit holds from the first access only if the scan has ended.
      _ = try disk.count()
      return .disk(disk)
    } else {
      let cache = try Cache(directory: directory, coder: .bytes, configuration: configuration)
      _ = try cache.disk.count()
      return .both(cache)
    }
  }

  static func temporaryDirectory() -> String {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    return "\(parent)/larder-replay-\(getpid())"
  }

  /// The disk tier, if there is one.
  var disk: DiskCache? {
    switch tiers {
    case .memory: nil
    case .disk(let disk): disk
    case .both(let cache): cache.disk
    }
  }

  /// Sets the clock for an access of the trace, and does what the time before it asks for: brings
  /// the uses that are due to the disk, or opens the cache anew.
  mutating func prepare(_ number: Int, _ report: inout ReplayReport) throws {
    if let rate = options.rate {
      let start = Timestamp(seconds: 1_800_000_000 + Int64(number / rate))
      clock.now = start.adding(.nanoseconds(number % rate * 1_000_000_000 / rate))
      if clock.now >= nextFlush {
        nextFlush = clock.now.adding(.seconds(options.granularity))
        try disk?.flush()
      }
    }
    if let restart = options.restart, number > 0, number.isMultiple(of: restart) {
      try finish(&report)
      switch tiers {
      case .memory: break
      case .disk(let disk): try disk.close()
      case .both(let cache): try cache.close()
      }
      tiers = try Self.tiers(options, directory, clock)
    }
  }

  /// Reads an object, and stores it after a miss.
  func access(_ object: String, _ byteCount: Int, _ report: inout ReplayReport) throws {
    let key = CacheKey(object)
    let start = MonotonicTime.now
    let found = try read(key, &report)
    if let value = found {
      report.hitSeconds += MonotonicTime.now.duration(since: start) / .seconds(1)
      report.bytesHit += value.count
      if value != Self.value(of: object, byteCount: value.count) { report.wrongValues += 1 }
      return
    }
    report.misses += 1
    let value = Self.value(of: object, byteCount: byteCount)
    switch tiers {
    case .memory(let memory): memory.store(value, forKey: key)
    case .disk(let disk): try disk.store(value, forKey: key)
    case .both(let cache): try cache.store(value, forKey: key)
    }
    // Of so many requests a second, few would come during an eviction.
    if options.rate != nil { _ = try disk?.count() }
  }

  private func read(_ key: CacheKey, _ report: inout ReplayReport) throws -> [UInt8]? {
    let value: [UInt8]?
    var isFromMemory = false
    switch tiers {
    case .memory(let memory):
      value = memory.value(forKey: key)
      isFromMemory = true
    case .disk(let disk): value = try disk.value(forKey: key)
    case .both(let cache):
      isFromMemory = cache.memory.contains(key)
      value = try cache.value(forKey: key)
    }
    if value != nil {
      if isFromMemory { report.memoryHits += 1 } else { report.diskHits += 1 }
    }
    return value
  }

  /// Returns bytes that differ between objects. They are generated from the hash of the name.
  private static func value(of object: String, byteCount: Int) -> [UInt8] {
    var state = object.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return [UInt8](capacity: byteCount) { output in
      while output.count < byteCount {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        output.append(UInt8(truncatingIfNeeded: state >> 56))
      }
    }
  }

  /// Waits until everything is written, and reads the totals.
  func finish(_ report: inout ReplayReport) throws {
    switch tiers {
    case .memory(let memory): report.add(memory.statistics, count: memory.count)
    case .disk(let disk): try report.add(disk)
    case .both(let cache):
      report.add(cache.memory.statistics, count: cache.memory.count)
      try report.add(cache.disk)
    }
  }

  /// Removes the directory, unless the caller named it.
  func cleanUp() throws {
    guard removesDirectory else { return }
    switch tiers {
    case .memory: return
    case .disk(let disk): try disk.removeAll()
    case .both(let cache): try cache.removeAll()
    }
    _ = unsafe unlink(directory + "/CACHEDIR.TAG")
    _ = unsafe rmdir(directory)
  }
}
