import Larder

/// The memory tier as `Cache` uses it: keys compared by their bytes, one lock.
struct PlainLarder: BenchmarkedCache {
  let cache: MemoryCache<CacheKey, [UInt8]>

  init(capacity: Int) {
    cache = MemoryCache(.init(countLimit: capacity))
  }

  @inline(__always)
  func get(_ key: String) -> [UInt8]? { cache.value(forKey: CacheKey(key)) }

  @inline(__always)
  func set(_ key: String, _ value: [UInt8]) { cache.store(value, forKey: CacheKey(key)) }
}

/// The memory tier with four locks, and a limit that is an eighth higher, because stripes are not
/// filled evenly.
struct StripedLarder: BenchmarkedCache {
  let cache: MemoryCache<CacheKey, [UInt8]>

  init(capacity: Int) {
    var configuration = MemoryCache<CacheKey, [UInt8]>.Configuration(
      countLimit: capacity + capacity / 8)
    configuration.stripes = 4
    cache = MemoryCache(configuration)
  }

  @inline(__always)
  func get(_ key: String) -> [UInt8]? { cache.value(forKey: CacheKey(key)) }

  @inline(__always)
  func set(_ key: String, _ value: [UInt8]) { cache.store(value, forKey: CacheKey(key)) }
}

/// The memory tier with values that expire, so that each operation reads the clock.
struct ExpiringLarder: BenchmarkedCache {
  let cache: MemoryCache<CacheKey, [UInt8]>

  init(capacity: Int) {
    var configuration = MemoryCache<CacheKey, [UInt8]>.Configuration(countLimit: capacity)
    configuration.expiration = .seconds(300)
    cache = MemoryCache(configuration)
  }

  @inline(__always)
  func get(_ key: String) -> [UInt8]? { cache.value(forKey: CacheKey(key)) }

  @inline(__always)
  func set(_ key: String, _ value: [UInt8]) { cache.store(value, forKey: CacheKey(key)) }
}

/// The memory tier with keys of another type, which are hashed as a dictionary hashes them.
struct TextLarder: BenchmarkedCache {
  let cache: MemoryCache<String, [UInt8]>

  init(capacity: Int) {
    cache = MemoryCache(.init(countLimit: capacity))
  }

  @inline(__always)
  func get(_ key: String) -> [UInt8]? { cache.value(forKey: key) }

  @inline(__always)
  func set(_ key: String, _ value: [UInt8]) { cache.store(value, forKey: key) }
}
