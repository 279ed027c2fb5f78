import Glibc
import Larder

/// A cache that executes the lines of its standard input. Scripts change its environment meanwhile.
enum ShellBenchmark {
  static let usage = """
    usage: LarderBench shell DIR [--group] [--unsafe] [--exclusive] [--now]

      Reads lines: store KEY VALUE, stream KEY VALUE, read KEY, count, clear, flush. Says a line
      for each.
      renew KEY says "loading" first, and after another line that an expired value is the same.
      --group   the directory's group shares the cache     --unsafe  whoever owns the directory
      --now     stamps each use at once                    --exclusive  no other process writes
    """

  /// Runs with the arguments that follow its name.
  static func run(arguments: [String]) async throws {
    guard let directory = arguments.first else { throw UsageError() }
    var configuration = CacheConfiguration()
    configuration.disk.coherence = .strict
    for option in arguments.dropFirst() {
      switch option {
      case "--group": configuration.disk.sharesWithGroup = true
      case "--unsafe": configuration.disk.allowsUnsafeDirectory = true
      case "--exclusive": configuration.disk.mode = .exclusive
      case "--now": configuration.disk.recencyGranularity = .zero
      default: throw UsageError()
      }
    }
    do {
      let cache = try Cache(directory: directory, coder: .string, configuration: configuration)
      while let line = readLine() {
        say(line.hasPrefix("renew ") ? await renew(line, cache) : answer(line, cache))
      }
      try await cache.close()
    } catch {
      say("error \(error.code.rawValue): \(error)")
    }
  }

  private static func answer(_ line: String, _ cache: Cache<String>) -> String {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    do throws(CacheError) {
      switch words.first {
      case "store" where words.count == 3:
        return "\(try cache.store(words[2], forKey: words[1]))"
      case "stream" where words.count == 3:
        return "\(try cache.disk.store(forKey: words[1]) { try $0.write(Array(words[2].utf8)) })"
      case "read" where words.count == 2: return try read(words[1], cache)
      case "count": return "\(try cache.disk.count())"
      case "clear": return "removed \(try cache.removeAll().removed)"
      case "flush":
        try cache.flush()
        return "flushed"
      default: return "unknown: \(line)"
      }
    } catch {
      return "error \(error.code.rawValue): \(error)"
    }
  }

  private static func renew(_ line: String, _ cache: Cache<String>) async -> String {
    do {
      let value = try await cache.value(forKey: String(line.dropFirst(6))) {
        (_: CachedValue<String>?) in
        say("loading")
        _ = readLine()
        return .notModified(expiration: .seconds(60))
      }
      return "value \(value)"
    } catch {
      return "error \(error)"
    }
  }

  /// Returns the value, or the reason for the miss.
  private static func read(_ key: String, _ cache: Cache<String>) throws(CacheError) -> String {
    let before = cache.statistics.disk.misses
    if let value = try cache.value(forKey: key) { return "value \(value)" }
    let after = cache.statistics.disk.misses
    let reasons = MissReason.allCases.filter { after[$0] != before[$0] }.map(\.rawValue)
    return "miss " + reasons.joined(separator: " ")
  }

  /// Prints a line at once, because the script waits for the answer.
  private static func say(_ text: String) {
    print(text)
    fflush(nil)
  }
}
