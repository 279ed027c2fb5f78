import Glibc
import Larder

/// Repetitions of one operation, so that a tool can count the cost of one.
///
/// Nothing else depends on the number of repetitions. So the cost is the difference of two runs
/// divided by the difference of their numbers. The scripts that count instructions and allocations
/// run it.
enum RepeatBenchmark {
  static let usage = """
    usage: LarderBench repeat OPERATION TIMES [--long-keys] [--directory DIR]

      OPERATION: memory-hit, memory-hit-expiring, memory-hit-string, load-hit, read, read-first,
                 miss, miss-exclusive, store-new, store-over, remove; raw-read, raw-read-first,
                 raw-miss, raw-store-new, raw-store-over, raw-remove: the least work by raw calls

      The keys have 32 bytes, and with --long-keys 20 to 200, 57 on average.
      DIR keeps what was stored, because to remove it would count too.
    """

  private static let entries = 2_000

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    guard arguments.count >= 2, let times = Int(arguments[1]), times >= 0 else {
      throw UsageError()
    }
    let options = try DiskOptions(arguments.dropFirst(2).filter { $0 != "--long-keys" })
    let isLong = arguments.contains("--long-keys")
    let directory = BenchmarkDirectory(options, "repeat")
    defer { if options.directory == nil { directory.removeAll() } }
    try repeatOperation(arguments[0], times, directory.path, isLong ? longKeys : keys)
  }

  private typealias Keys = (old: [CacheKey], new: (Int) -> CacheKey)

  private static var keys: Keys {
    (
      (0..<entries).map { CacheKey("https://example.com/item/\(1_000_000 + $0)") },
      { CacheKey("https://example.com/new/\(1_000_000 + $0)") }
    )
  }

  private static var longKeys: Keys {
    let new = BenchmarkKeys.make(entries, kind: 1)
    return (BenchmarkKeys.make(entries).map { CacheKey($0) }, { CacheKey(new[$0 % entries]) })
  }

  private static func repeatOperation(
    _ name: String, _ times: Int, _ path: String, _ all: Keys
  ) throws {
    let keys = all.old
    let value = [UInt8](repeating: 7, count: 1024)
    let cache = try filled(keys, value, path, isExclusive: name == "miss-exclusive")
    if name.hasPrefix("raw-") {
      try cache.close()
      return try repeatRaw(String(name.dropFirst(4)), keys, value, times, path)
    }
    switch name {
    case "memory-hit": hitMemory(keys, value, times)
    case "memory-hit-expiring": hitMemory(keys, value, times, expiration: .seconds(300))
    case "memory-hit-string": hitMemory(keys.map { $0.text ?? "" }, value, times)
    case "load-hit":
      try cache.close()
      return try hitByLoad(keys, times, path)
    case "read", "read-first":
      // Closed first, because a second object of the process would share the checks of the first
      // engine.
      try cache.close()
      let reader = try open(path)
      if name == "read" { for key in keys { _ = try reader.value(forKey: key) } }
      for number in 0..<times { _ = try reader.value(forKey: keys[number % entries]) }
      return try reader.close()
    case "miss", "miss-exclusive":
      let others = keys.map { CacheKey($0, variant: "none") }
      for number in 0..<times { _ = try cache.value(forKey: others[number % entries]) }
    case "store-new":
      for number in 0..<times { try cache.store(value, forKey: all.new(number)) }
    case "store-over":
      for number in 0..<times { try cache.store(value, forKey: keys[number % entries]) }
    case "remove": for number in 0..<min(times, entries) { try cache.remove(forKey: keys[number]) }
    default: throw UsageError()
    }
    try cache.close()
  }

  /// Does what has to be done for an operation by raw calls, on names that were made before.
  private static func repeatRaw(
    _ name: String, _ keys: [CacheKey], _ value: [UInt8], _ times: Int, _ path: String
  ) throws {
    let known = RawNames(keys.map { EntryName($0).description })
    let others = RawNames(keys.map { EntryName(CacheKey($0, variant: "none")).description })
    let directory = RawCalls.openDirectory(path)
    defer { close(directory) }
    let attribute = unsafe RawCalls.attribute(directory, known[0])
    let stamps = Array(repeating: timespec(tv_sec: 1_800_000_000, tv_nsec: 1), count: 2)
    for number in 0..<times {
      let (known, other) = unsafe (known[number % entries], others[number % entries])
      switch name {
      case "read": _ = unsafe RawCalls.read(directory, known)
      case "read-first": _ = unsafe RawCalls.readChecked(directory, known)
      case "miss": unsafe RawCalls.miss(directory, other)
      case "store-new": unsafe RawCalls.storeChecked(directory, other, value, attribute, stamps)
      case "store-over": unsafe RawCalls.storeChecked(directory, known, value, attribute, stamps)
      case "remove": if number < entries { unsafe RawCalls.remove(directory, known) }
      default: throw UsageError()
      }
    }
  }

  private static func open(_ path: String, isExclusive: Bool = false) throws -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: 1 << 50)
    if isExclusive { configuration.mode = .exclusive }
    let cache = try DiskCache(directory: path, configuration: configuration)
    _ = try cache.count()
    return cache
  }

  private static func filled(
    _ keys: [CacheKey], _ value: [UInt8], _ path: String, isExclusive: Bool
  ) throws -> DiskCache {
    let cache = try open(path, isExclusive: isExclusive)
    for key in keys { try cache.store(value, forKey: key) }
    return cache
  }

  /// Asks for values that are in memory by the call that would load them.
  private static func hitByLoad(
    _ keys: [CacheKey], _ times: Int, _ path: String
  ) throws {
    let cache = try Cache(directory: path, coder: .bytes)
    for key in keys { _ = try cache.value(forKey: key) }
    try BlockingTask.runHere {
      for number in 0..<times {
        let found = try await cache.value(forKey: keys[number % entries]) {
          preconditionFailure("a value is missing")
        }
        precondition(found.count == 1024, "a value is not whole")
      }
    }
    try cache.close()
  }

  // Specialised for each type of key, as in a user's module.
  @inline(__always)
  private static func hitMemory<Key: Hashable & Sendable>(
    _ keys: [Key], _ value: [UInt8], _ times: Int, expiration: Expiration = .never
  ) {
    var configuration = MemoryCache<Key, [UInt8]>.Configuration(countLimit: entries)
    configuration.expiration = expiration
    let memory = MemoryCache<Key, [UInt8]>(configuration)
    for key in keys { memory.store(value, forKey: key) }
    for number in 0..<times {
      precondition(memory.value(forKey: keys[number % entries]) != nil, "a value is missing")
    }
  }
}
