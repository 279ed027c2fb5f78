import Glibc
import Larder

/// The cache of a run, and the commands on it.
struct Driver {
  private let directory: String
  private var configuration = DiskCache.Configuration(sizeLimit: nil)
  private let clock: ManualClock?
  private var disk: DiskCache?

  init(_ arguments: [String]) throws {
    guard let first = arguments.first else { throw UsageError() }
    directory = first
    configuration.extending = .lifetime
    var clock: ManualClock?
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      switch argument {
      case "--durable": configuration.durability = .durable
      case "--read-only": configuration.mode = .readOnly
      // Ignored, as a host process under such a limit does. See: man 2 setrlimit, RLIMIT_FSIZE.
      case "--ignore-signal": signal(SIGXFSZ, SIG_IGN)
      case "--limit": configuration.sizeLimit = try Self.number(rest.popFirst())
      case "--clock":
        clock = ManualClock(Timestamp(seconds: Int64(try Self.number(rest.popFirst()))))
      default: throw UsageError()
      }
    }
    self.clock = clock
    if let clock { configuration.clock = clock.wallClock }
  }

  private static func number(_ text: String?) throws -> Int {
    guard let number = text.flatMap({ Int($0) }) else { throw UsageError() }
    return number
  }

  /// Executes a line and returns the answer as a line.
  mutating func answer(to words: [String]) -> String {
    do {
      return try perform(words)
    } catch let error as CacheError {
      let remains = error.oldValueRemains ? " remains" : ""
      return "error \(error.code.rawValue) \(error.errno?.rawValue ?? 0)\(remains)"
    } catch {
      return "usage"
    }
  }

  private mutating func perform(_ words: [String]) throws -> String {
    switch words.first {
    case "open":
      disk = nil
      disk = try opened()
      return "ok"
    case "close":
      try disk?.close()
      disk = nil
      return "ok"
    case "clock":
      clock?.now = Timestamp(seconds: Int64(try Self.number(words.last)))
      return "ok"
    case "memory": return "\(Self.peak)"
    default: break
    }
    let disk = try self.disk ?? opened()
    self.disk = disk
    return try perform(words, on: disk)
  }

  private func opened() throws -> DiskCache {
    try DiskCache(directory: directory, configuration: configuration)
  }

  private func perform(_ words: [String], on disk: DiskCache) throws -> String {
    switch words.first {
    case "clear": return "\(try disk.removeAll().removed)"
    case "count": return "\(try disk.count())"
    case "bytes": return "\(try disk.totalSize())"
    case "verify": return "\(try disk.verify().damaged.count)"
    case "misses":
      let misses = disk.statistics.misses.sorted { $0.key.rawValue < $1.key.rawValue }
      return misses.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    case "flush":
      try disk.flush()
      return "ok"
    default: break
    }
    guard words.count >= 2 else { throw UsageError() }
    let key = words[1]
    switch words[0] {
    case "remove": return try disk.remove(forKey: key) ? "removed" : "absent"
    case "expiry":
      guard let entry = try disk.entry(forKey: key) else { return "absent" }
      return entry.expiry.map { "\($0.seconds)" } ?? "never"
    default: return try perform(words[0], key, Array(words.dropFirst(2)), on: disk)
    }
  }

  private func perform(
    _ verb: String, _ key: String, _ rest: [String], on disk: DiskCache
  ) throws -> String {
    let count = try Self.number(rest.first)
    let value = DriveValue(key: key, byteCount: count)
    switch verb {
    case "store":
      var expiration: Expiration?
      if rest.count > 1 {
        expiration = rest[1] == "never" ? .never : .seconds(try Self.number(rest[1]))
      }
      return "\(try disk.store(value.bytes, forKey: key, expiration: expiration))"
    case "stream": return "\(try disk.store(forKey: key) { try value.write(to: &$0) })"
    case "get":
      guard let found = try disk.value(forKey: key) else { return "miss" }
      return found == value.bytes ? "right" : "wrong"
    case "file":
      return try disk.withFile(forKey: key) { try value.matches($0) ? "right" : "wrong" } ?? "miss"
    case "hold": return try hold(key, depth: count, disk)
    default: throw UsageError()
    }
  }

  /// Opens a file, and again within the closure that borrows it, so many times.
  private func hold(_ key: String, depth: Int, _ disk: DiskCache) throws -> String {
    guard depth > 0 else { return "held" }
    return try disk.withFile(forKey: key) { _ in try hold(key, depth: depth - 1, disk) } ?? "miss"
  }

  private static var peak: Int {
    var usage = rusage()
    unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss << 10
  }
}
