import Glibc
import Larder
import LarderSystem
import Synchronization

/// The processes of `LoadsBenchmark`.
enum LoadsPart {
  static func run(_ words: [String]) async throws {
    var configuration = CacheConfiguration()
    configuration.singleFlight = words.last == "alone" ? .process : .directory
    let cache = try Cache(directory: words[1], coder: .bytes, configuration: configuration)
    switch words[0] {
    case "keys": try await keys(cache, Int(words[2]) ?? 0, origin: words[3])
    case "publish": try await publish(cache, words[2...].compactMap { Int64($0) })
    case "await": try await receive(cache, words[2...].compactMap { Int64($0) })
    case "hang": try await hang(cache, words[2], Int(words[3]) ?? 0)
    case "next": try await next(cache, words[2])
    case "wait": try await wait(cache)
    default: try await unkept(cache)
    }
    try await cache.close()
  }

  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  static func text(of path: String) throws -> String {
    let file = unsafe open(path, O_RDONLY)
    defer { close(file) }
    var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = unsafe read(file, &buffer, buffer.count)
      if count <= 0 { return String(decoding: text, as: UTF8.self) }
      text += buffer[..<count]
    }
  }

  private static func keys(_ cache: Cache<[UInt8]>, _ count: Int, origin: String) async throws {
    let file = unsafe open(origin, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for number in 0..<count {
            _ = try await cache.value(forKey: "key \(number)") {
              let line = Array("\(number)\n".utf8)
              unsafe write(file, line, line.count)
              try await Task.sleep(for: .milliseconds(5))
              return line
            }
          }
        }
      }
      try await group.waitForAll()
    }
    say("\(cache.statistics.loads.awaited) \(cache.statistics.loads.unshared)")
  }

  private static func sleep(until time: Int64) async throws {
    try await Task.sleep(for: .nanoseconds(max(0, time - MonotonicTime.now.nanoseconds)))
  }

  /// Loads keys: how many, from when on, and the milliseconds of a load and between two. The value
  /// is the time at which the load ends.
  private static func publish(_ cache: Cache<[UInt8]>, _ times: [Int64]) async throws {
    var delays = ""
    for number in 0..<times[0] {
      try await sleep(until: times[1] + number * times[3] * 1_000_000)
      let value = try await cache.value(forKey: "p\(number)") {
        try await Task.sleep(for: .milliseconds(times[2]))
        return Array("\(MonotonicTime.now.nanoseconds)".utf8)
      }
      delays += delay(since: value)
    }
    say(delays + "end")
  }

  /// Returns a line with the milliseconds since a value was loaded by another process.
  private static func delay(since value: [UInt8]) -> String {
    let now = MonotonicTime.now.nanoseconds
    guard let end = Int64(String(decoding: value, as: UTF8.self)) else { return "" }
    return "\(Double(now - end) / 1e6)\n"
  }

  private static func receive(_ cache: Cache<[UInt8]>, _ times: [Int64]) async throws {
    // Said at the end, because what reads it would take time from the next process.
    var delays = ""
    for number in 0..<times[0] {
      try await sleep(until: times[1] + (number * times[3] + 8) * 1_000_000)
      delays += delay(since: try await cache.value(forKey: "p\(number)") { Array("none".utf8) })
    }
    say(delays + "end")
  }

  private static func hang(_ cache: Cache<[UInt8]>, _ prefix: String, _ count: Int) async throws {
    let running = Running()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        group.addTask {
          _ = try await cache.value(forKey: "\(prefix)\(number)") {
            if running.count.wrappingAdd(1, ordering: .relaxed).newValue == count { say("ready") }
            try await Task.sleep(for: .seconds(1000))
            return []
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func next(_ cache: Cache<[UInt8]>, _ key: String) async throws {
    async let value = cache.value(forKey: key) {
      say("\(MonotonicTime.now.nanoseconds)")
      return []
    }
    while cache.statistics.loads.awaited == 0 { try await Task.sleep(for: .milliseconds(1)) }
    say("waits")
    _ = try await value
  }

  /// Says how much of a processor tasks take that wait, over ten seconds, and how many threads.
  private static func wait(_ cache: Cache<[UInt8]>) async throws {
    for task in 0..<10_000 {
      let key = task % 1000
      Task { try await cache.value(forKey: "w\(key / 100)-\(key % 100)") { [] } }
    }
    while cache.statistics.loads.awaited < 1000 { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .seconds(3))
    let start = processorTime
    try await Task.sleep(for: .seconds(10))
    let share = Double(processorTime - start) / 10e6 * 100
    let status = try text(of: "/proc/self/status").split(separator: "\n")
    say(
      "\(share.rounded(to: 2)) % of a processor,"
        + " \(status.first { $0.hasPrefix("Threads") } ?? "")"
        + ", unshared \(cache.statistics.loads.unshared)")
    try await Task.sleep(for: .seconds(1000))
  }

  /// The processor time of this process in microseconds.
  private static var processorTime: Int {
    var usage = rusage()
    unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    return (Int(usage.ru_utime.tv_sec) + Int(usage.ru_stime.tv_sec)) * 1_000_000
      + Int(usage.ru_utime.tv_usec) + Int(usage.ru_stime.tv_usec)
  }

  private static func unkept(_ cache: Cache<[UInt8]>) async throws {
    say("ready")
    _ = readLine()
    _ = try await cache.value(forKey: "unkept") { _ in
      try await Task.sleep(for: .milliseconds(500))
      return .notKept([])
    }
    say("end")
    _ = readLine()
  }
}

/// The number of loads that run.
private final class Running: Sendable {
  let count = Atomic<Int>(0)
}
