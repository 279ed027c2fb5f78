import LarderBasics
import LarderDisk

/// The options of one call through the cache.
///
/// ```swift
/// let quick = try await pages.value(forKey: url, options: .memoryOnly)
/// let options: LoadOptions = [.reload, .staleIfFailing(.seconds(86_400))]
/// let fresh = try await pages.value(forKey: url, options: options) { try await fetch(url) }
/// ```
///
/// Options can be joined in a list. Of two durations the longer one holds, and of two extensions
/// or single flights the later in the list.
///
/// A call whose options contradict each other, `.memoryOnly` with `.diskOnly` or `.reload` with
/// `.cacheOnly`, throws `CacheError` with `.invalidArgument`.
public struct LoadOptions: Sendable, Hashable {
  // `.seconds(0)` is folded to a constant; `.zero` is a call, three for each call that may load.
  var staleWhileRevalidating = Duration.seconds(0)
  var staleIfFailing = Duration.seconds(0)
  package var failureLifetime = Duration.seconds(0)
  var extending: ExpirationExtending?
  @usableFromInline
  var isMemoryOnly = false
  var isDiskOnly = false
  var reloads = false
  var isCacheOnly = false
  var allowsExpired = false
  var singleFlight: SingleFlight?
  /// Whether a value in memory answers the call. Kept, because each hit in memory asks for it.
  @usableFromInline
  private(set) var mayAnswerFromMemory = true

  /// The longest time for a load behind a value that was served expired: after it, the value may
  /// not be served any more. At least 60 s, which is longer than most requests wait for a server.
  var refreshTime: Duration { max(staleWhileRevalidating, .seconds(60)) }

  /// Creates the default options.
  public init() {}
}

extension LoadOptions {
  /// Does not read the disk tier: a value that is only there is a miss. A read changes nothing.
  ///
  /// A load keeps its value in memory alone, for at most `memoryExpiration`, until another process
  /// stores the key. **It removes the value on disk**, which is older and would be served again
  /// afterwards; a cache that only reads leaves it. `.reload` loads into both tiers instead.
  public static let memoryOnly = with { $0.isMemoryOnly = true }
  /// Neither reads nor fills the memory tier.
  public static let diskOnly = with { $0.isDiskOnly = true }
  /// Loads a value even if there is a valid one, which other callers get until the new one is
  /// there. Joins a running load of the key.
  public static let reload = with { $0.reloads = true }
  /// Never loads: without a value the call throws `CacheError` with `.notCached`.
  public static let cacheOnly = with { $0.isCacheOnly = true }
  /// Returns an expired value like a valid one, as long as its file exists, without loading.
  public static let allowingExpired = with { $0.allowsExpired = true }
  /// Makes the read change the expiry of a value on disk in this way, instead of as configured;
  /// `.off` leaves it as it is. One that extends is not answered from memory.
  public static func extending(_ extending: ExpirationExtending) -> LoadOptions {
    with { $0.extending = extending }
  }

  /// Serves a value that expired less than `time` ago at once, while one task loads a fresh one.
  ///
  /// From the first such request on that memory does not answer, sweeps of this process spare
  /// expired entries for as long, a day at most; those of others, and longer, only by
  /// `expiredGrace`. If a refresh takes longer than this and longer than 60 s, the next request
  /// cancels it and starts another. Once a caller waits for the refresh, it is cancelled with its
  /// last caller, like any load.
  public static func staleWhileRevalidating(_ time: Duration) -> LoadOptions {
    with { $0.staleWhileRevalidating = time }
  }

  /// Serves a value that expired less than `time` ago when a load throws, instead of the error.
  ///
  /// Sweeps spare expired entries as for `staleWhileRevalidating(_:)`. With `keepingFailures(for:)`
  /// the source is not asked again for that long.
  public static func staleIfFailing(_ time: Duration) -> LoadOptions {
    with { $0.staleIfFailing = time }
  }

  /// Answers further requests with the error of a failed load for `time`, without another load. At
  /// most 1,000 errors are kept. A cycle of loads, a cancellation and a value that a fixture lacks
  /// are not kept: the source has not failed. A success, a removal by choice, or a stamp ends it.
  public static func keepingFailures(for time: Duration) -> LoadOptions {
    with { $0.failureLifetime = time }
  }

  /// Shares the load in this way, instead of as configured.
  ///
  /// `.directory` has no effect beside `.memoryOnly` and `.reload`.
  public static func singleFlight(_ singleFlight: SingleFlight) -> LoadOptions {
    with { $0.singleFlight = singleFlight }
  }

  private static func with(_ change: (inout LoadOptions) -> Void) -> LoadOptions {
    var options = LoadOptions()
    change(&options)
    // Only the disk knows an expiry that a use extends.
    let extends = options.extending ?? .off != .off
    options.mayAnswerFromMemory =
      !options.isDiskOnly && !options.reloads && (!extends || options.isMemoryOnly)
    return options
  }
}

extension LoadOptions: ExpressibleByArrayLiteral {
  /// Joins options.
  public init(arrayLiteral options: LoadOptions...) {
    self = Self.with { joined in
      for other in options { joined.join(other) }
    }
  }

  private mutating func join(_ other: LoadOptions) {
    staleWhileRevalidating = max(staleWhileRevalidating, other.staleWhileRevalidating)
    staleIfFailing = max(staleIfFailing, other.staleIfFailing)
    failureLifetime = max(failureLifetime, other.failureLifetime)
    extending = other.extending ?? extending
    isMemoryOnly = isMemoryOnly || other.isMemoryOnly
    isDiskOnly = isDiskOnly || other.isDiskOnly
    reloads = reloads || other.reloads
    isCacheOnly = isCacheOnly || other.isCacheOnly
    allowsExpired = allowsExpired || other.allowsExpired
    singleFlight = other.singleFlight ?? singleFlight
  }

  /// Throws `.invalidArgument` if two options contradict each other.
  ///
  /// An error and not a trap, because options can come from a request's headers: `no-cache` beside
  /// `only-if-cached` must not end a server.
  func check() throws(CacheError) {
    let isOfTiers = isMemoryOnly && isDiskOnly
    guard isOfTiers || reloads && isCacheOnly else { return }
    throw CacheError(
      .invalidArgument, operation: "value",
      underlying: isOfTiers
        ? "a call cannot be memoryOnly and diskOnly at once"
        : "a call cannot reload and be cacheOnly")
  }
}

/// The tasks that share one load of a key.
public enum SingleFlight: Sendable, Hashable {
  /// Those that use the same ``Cache`` object.
  case process
  /// Those of all processes on the directory, if it is opened with the mode `.shared`: one loads,
  /// and the others get the value from its file. If the one is killed, the next one loads.
  ///
  /// Where locks on `CACHEDIR.TAG` cannot be had, each process loads, and `upkeepFailures` has the
  /// reason. The guide Sharing a directory says when else one loads beside another.
  case directory
}

/// An error by which a replacement says that it does not load. No source has failed, so the error
/// is not kept, and no expired value is served in its place.
package protocol LoadRefusal: Error {}

/// A replacement for the loads of a cache, such as a fixture in a test. The caller's closure runs
/// only if the replacement calls it.
package protocol LoadReplacement: Sendable {
  /// Returns what the load would return. The cache settles it as the result of any load.
  ///
  /// - Parameter isMemoryOnly: Whether memory alone is to keep the value.
  func load<Value>(
    _ key: CacheKey, for cache: Cache<Value>, isMemoryOnly: Bool,
    _ load: @Sendable () async throws -> Loaded<Value>
  ) async throws -> Loaded<Value>

  /// Answers a load of a file: stores the value that the load would write.
  ///
  /// - Parameter load: Runs the load, and stores what it writes.
  func loadFile<Value>(
    _ key: CacheKey, for cache: Cache<Value>, _ load: () async throws -> StoreOutcome
  ) async throws -> StoreOutcome

  /// Releases the resources of the replacement, after the cache was closed.
  func close()
}

/// The counters of a cache's loads, by `value(forKey:orStore:)`, `value(forKey:orRevalidate:)` and
/// `withFile(forKey:_:orStore:)`.
public struct LoadStatistics: Sendable, Hashable {
  /// Loads that were started, for a caller or to refresh what was served expired.
  public internal(set) var started = 0
  /// Loads that returned a value.
  public internal(set) var succeeded = 0
  /// Loads that threw, cancelled ones included.
  public internal(set) var failed = 0
  /// Loaded values that could not be stored, because the disk was full or the coder threw; their
  /// callers got them all the same. Those that were rejected or came too late do not count.
  public internal(set) var unstored = 0
  /// Previous values that got a new expiry because a load said `.notModified`.
  public internal(set) var renewed = 0
  /// Requests that waited for a load started by another request.
  public internal(set) var joined = 0
  /// Requests that `staleWhileRevalidating` or `staleIfFailing` answered with an expired value.
  public internal(set) var servedStale = 0
  /// Requests that were answered with the error of an earlier load.
  public internal(set) var servedFailures = 0
  /// The time that all loads took together.
  public internal(set) var time = Duration.zero
  /// Loads that waited for another process's load, because of `SingleFlight.directory`.
  public internal(set) var awaited = 0
  /// Loads that `SingleFlight.directory` did not keep from running beside another process's.
  public internal(set) var unshared = 0
  /// The hits and misses of the disk tier by looks that `CacheStatistics.hitRate` leaves out; less
  /// the misses that only the memory tier counted.
  var repeatedHits = 0
  var repeatedMisses = 0

  /// Adds what loads of files count.
  func adding(_ files: Self) -> Self {
    var sum = self
    sum.started += files.started
    sum.succeeded += files.succeeded
    sum.failed += files.failed
    sum.joined += files.joined
    sum.time += files.time
    return sum
  }
}

extension LoadStatistics: CustomReflectable {
  /// The public counters by name, for `print`.
  public var customMirror: Mirror {
    let counters: KeyValuePairs<String, Any> = [
      "started": started, "succeeded": succeeded, "failed": failed, "unstored": unstored,
      "renewed": renewed, "joined": joined, "servedStale": servedStale,
      "servedFailures": servedFailures, "time": time, "awaited": awaited, "unshared": unshared,
    ]
    return Mirror(self, children: counters, displayStyle: .struct)
  }
}
