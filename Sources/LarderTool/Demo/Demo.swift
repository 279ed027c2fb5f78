import Larder

/// A run of the main operations of a cache on real values, with measurements.
struct Demo: ~Copyable {
  private(set) var figures = DemoFigures()
  private(set) var cache: DiskCache
  private let memory = MemoryCache<CacheKey, [UInt8]>()
  private let source: DemoFiles

  /// The bytes of the limit beyond the files, for the value that expires.
  private static let slack = 1024

  /// Opens the demo's directory and removes what an earlier demo left in it.
  init(_ source: DemoFiles) throws(Failure) {
    self.source = source
    let limit = source.byteCount + Self.slack
    var configuration = DiskCache.Configuration(sizeLimit: limit)
    // With zero, every use is written to the file's access time at once.
    configuration.recencyGranularity = .zero
    // The report names files by their keys, which are paths of any length.
    configuration.recordKeys = .always
    cache = try DemoDirectory.open(configuration)
    figures.directory = cache.directory
    figures.origin = source.origin
    figures.eviction.limit = limit
  }

  /// Runs all steps in order.
  mutating func run() throws(CacheError) {
    figures.leftovers = try cache.removeAll().removed
    try storeAll()
    try readAll()
    try letOneExpire()
    try overfill()
    try cache.flush()
  }

  /// Stores every file once and counts the kept values.
  private mutating func storeAll() throws(CacheError) {
    let start = MonotonicTime.now
    for file in source.files where try cache.store(file.content, forKey: file.key).isKept {
      figures.stores.add(file.content.count)
    }
    figures.stores.time = MonotonicTime.now.duration(since: start)
  }

  /// Reads all values from disk and then from memory, after it has opened the directory again, so
  /// that the cache knows none of its files. Counts only values with the bytes that were stored.
  private mutating func readAll() throws(CacheError) {
    try cache.close()
    cache = try DiskCache(directory: figures.directory, configuration: cache.configuration)
    figures.diskReads = try read { (key) throws(CacheError) in try cache.value(forKey: key) }
    // Not timed: the demo fills the memory tier by hand, as a promotion would.
    for file in source.files { memory.store(file.content, forKey: file.key) }
    figures.memoryReads = try read { (key) throws(CacheError) in memory.value(forKey: key) }
  }

  /// Reads every key and counts the values that equal the files.
  private func read(
    _ value: (CacheKey) throws(CacheError) -> [UInt8]?
  ) throws(CacheError) -> DemoFigures.Tally {
    var tally = DemoFigures.Tally()
    var values: [[UInt8]?] = []
    values.reserveCapacity(source.files.count)
    let start = MonotonicTime.now
    for file in source.files { values.append(try value(file.key)) }
    tally.time = MonotonicTime.now.duration(since: start)
    // Compared after the time was taken.
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
    // The demo uses the real clock, so it waits 20 ms longer than the lifetime.
    CommandProcess.wait(.seconds(lifetime) + .milliseconds(20))
    figures.expiry.wasFoundAfter = try cache.value(forKey: key) != nil
    figures.expiry.wait = MonotonicTime.now.duration(since: start)
  }

  /// Reads the values that were stored first, and then stores more than the limit allows.
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
