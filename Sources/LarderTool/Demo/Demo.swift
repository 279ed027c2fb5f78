import Larder

/// The main job of a cache, done with real values and measured.
struct Demo: ~Copyable {
  private(set) var figures = DemoFigures()
  private(set) var cache: DiskCache
  private let memory = MemoryCache<CacheKey, [UInt8]>()
  private let source: DemoFiles

  /// Room in the limit beside the files, for the value that expires.
  private static let slack = 1024

  /// Opens the demo's directory and removes what an earlier demo left in it.
  init(_ source: DemoFiles) throws(Failure) {
    self.source = source
    let limit = source.byteCount + Self.slack
    var configuration = DiskCache.Configuration(sizeLimit: limit)
    // Every use shows in the directory at once.
    configuration.recencyGranularity = .zero
    cache = try DemoDirectory.open(configuration)
    figures.directory = cache.directory
    figures.origin = source.origin
    figures.eviction.limit = limit
  }

  /// Does all of it, one step after the other.
  mutating func run() throws(CacheError) {
    figures.leftovers = try cache.removeAll().removed
    try storeAll()
    try readAll()
    try letOneExpire()
    try overfill()
    try cache.flush()
  }

  /// Stores every file once and counts those that were kept.
  private mutating func storeAll() throws(CacheError) {
    let start = MonotonicTime.now
    for file in source.files where try cache.store(file.content, forKey: file.key).isKept {
      figures.stores.add(file.content.count)
    }
    figures.stores.time = MonotonicTime.now.duration(since: start)
  }

  /// Opens the directory anew, so that nothing is known of its files, and reads everything from
  /// disk into memory, and then from memory. Only values with the bytes that were stored count.
  private mutating func readAll() throws(CacheError) {
    try cache.close()
    cache = try DiskCache(directory: figures.directory, configuration: cache.configuration)
    figures.diskReads = try read { (key) throws(CacheError) in try cache.value(forKey: key) }
    // Not timed: the tier above is filled by hand here, as a promotion would.
    for file in source.files { memory.store(file.content, forKey: file.key) }
    figures.memoryReads = try read { (key) throws(CacheError) in memory.value(forKey: key) }
  }

  /// Reads every key and counts the values that are those of the files.
  private func read(
    _ value: (CacheKey) throws(CacheError) -> [UInt8]?
  ) throws(CacheError) -> DemoFigures.Tally {
    var tally = DemoFigures.Tally()
    var values: [[UInt8]?] = []
    values.reserveCapacity(source.files.count)
    let start = MonotonicTime.now
    for file in source.files { values.append(try value(file.key)) }
    tally.time = MonotonicTime.now.duration(since: start)
    // Compared after the clock was stopped.
    for (value, file) in zip(values, source.files) where value == file.content {
      tally.add(file.content.count)
    }
    return tally
  }

  /// Stores a value for a second and looks for it before and after.
  private mutating func letOneExpire() throws(CacheError) {
    let key = CacheKey("a value for one second")
    let lifetime = figures.expiry.lifetime
    try cache.store(Array("soon gone".utf8), forKey: key, expiration: .seconds(lifetime))
    let start = MonotonicTime.now
    figures.expiry.wasFoundBefore =
      try cache.value(forKey: key, extending: .off) != nil
    // The clock of the demo is the real one, so it really waits; 20 ms more than the lifetime.
    CommandProcess.wait(.seconds(lifetime) + .milliseconds(20))
    figures.expiry.wasFoundAfter = try cache.value(forKey: key) != nil
    figures.expiry.wait = MonotonicTime.now.duration(since: start)
  }

  /// Uses the values that were stored first, and then stores more than the limit allows.
  private mutating func overfill() throws(CacheError) {
    let recent = source.files.prefix(3).map(\.key)
    for key in recent { _ = try cache.value(forKey: key) }
    figures.eviction.entriesBefore = try cache.count()
    figures.eviction.bytesBefore = try cache.totalSize()
    let before = cache.statistics.removals
    let surplus = [UInt8](repeating: UInt8(ascii: "x"), count: 2 * Self.slack)
    try cache.store(surplus, forKey: "one value too many")
    try cache.flush()
    let after = cache.statistics.removals
    figures.eviction.added = surplus.count
    figures.eviction.entriesAfter = try cache.count()
    figures.eviction.bytesAfter = try cache.totalSize()
    figures.eviction.evicted = after[.evicted, default: 0] - before[.evicted, default: 0]
    figures.eviction.expired = after[.expired, default: 0] - before[.expired, default: 0]
    figures.eviction.recent = recent.count
    for key in recent where try cache.contains(key) { figures.eviction.recentKept += 1 }
  }
}

extension DemoFigures.Tally {
  fileprivate mutating func add(_ count: Int) {
    self.count += 1
    byteCount += count
  }
}
