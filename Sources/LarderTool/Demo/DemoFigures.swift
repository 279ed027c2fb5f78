import Larder

/// The results of the demo, from which its whole output is made.
struct DemoFigures: Sendable {
  var directory = ""
  var origin = ""
  /// Whether the compiler did not optimise this program.
  let isDebugBuild = Self.isCompiledForDebugging
  /// The number of entries that an earlier demo had left.
  var leftovers = 0
  var stores = Tally()
  var diskReads = Tally()
  var memoryReads = Tally()
  var expiry = Expiry()
  var eviction = Eviction()

  /// The number and bytes of successful operations, and the time that all operations took.
  struct Tally: Sendable {
    var count = 0
    var byteCount = 0
    var time = Duration.zero
  }

  /// The result for a value with a short lifetime.
  struct Expiry: Sendable {
    var lifetime = 1
    var wasFoundBefore = false
    var wasFoundAfter = false
    var wait = Duration.zero
  }

  /// The result of exceeding the limit.
  struct Eviction: Sendable {
    var limit = 0
    var entriesBefore = 0
    var bytesBefore = 0
    var added = 0
    var entriesAfter = 0
    var bytesAfter = 0
    var evicted = 0
    var expired = 0
    /// The number of values that were read just before the eviction.
    var recent = 0
    var recentKept = 0
  }
}

extension DemoFigures {
  private static var isCompiledForDebugging: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  /// The object for scripts.
  var json: JSONValue {
    [
      "schema": 1, "directory": .string(directory), "origin": .string(origin),
      "debug_build": .bool(isDebugBuild),
      "leftovers": JSONValue(leftovers), "stores": stores.json, "reads_disk": diskReads.json,
      "reads_memory": memoryReads.json,
      "expiry": [
        "lifetime": JSONValue(expiry.lifetime), "found_before": .bool(expiry.wasFoundBefore),
        "found_after": .bool(expiry.wasFoundAfter),
      ],
      "eviction": eviction.json,
    ]
  }
}

extension DemoFigures.Tally {
  fileprivate var json: JSONValue {
    [
      "count": JSONValue(count), "bytes": JSONValue(byteCount),
      "nanoseconds": JSONValue(Int64(time / .nanoseconds(1))),
    ]
  }
}

extension DemoFigures.Eviction {
  fileprivate var json: JSONValue {
    [
      "limit": JSONValue(limit), "entries_before": JSONValue(entriesBefore),
      "bytes_before": JSONValue(bytesBefore), "added": JSONValue(added),
      "entries_after": JSONValue(entriesAfter), "bytes_after": JSONValue(bytesAfter),
      "evicted": JSONValue(evicted), "expired": JSONValue(expired),
      "recent": JSONValue(recent), "recent_kept": JSONValue(recentKept),
    ]
  }
}

extension Duration {
  /// The length of time to three figures in a unit that suits it: `12.3 ms`, `0.482 us`.
  var measuredText: String {
    let nanoseconds = max(0, Int64(self / .nanoseconds(1)))
    switch nanoseconds {
    case ..<1000: return "\(nanoseconds) ns"
    case ..<1_000_000: return Self.text(nanoseconds, per: 1000, unit: "us")
    case ..<1_000_000_000: return Self.text(nanoseconds, per: 1_000_000, unit: "ms")
    default: return Self.text(nanoseconds, per: 1_000_000_000, unit: "s")
    }
  }

  /// Returns a count in a unit with three significant figures, and all digits before the point.
  private static func text(_ count: Int64, per unit: Int64, unit name: String) -> String {
    let whole = count / unit
    let decimals = whole >= 100 ? 0 : whole >= 10 ? 1 : 2
    let scale: Int64 = [1, 10, 100][decimals]
    let scaled = (count * scale + unit / 2) / unit
    guard decimals > 0 else { return "\(scaled) \(name)" }
    let digits = String(scaled % scale)
    let padding = String(repeating: "0", count: decimals - digits.count)
    return "\(scaled / scale).\(padding)\(digits) \(name)"
  }
}
