import LarderBasics
import LarderDisk

/// Lets a task out of the load that it was begun in.
///
/// A load that would wait for itself fails with `.loadCycle`. What counts as a part of a load is what
/// it calls and every task that it begins, unless by `Task.detached`: Swift does not tell whether it
/// waits for a task. One that it does not wait for may ask for the very key that is being loaded, and
/// says so:
///
/// ```swift
/// let page = try await pages.value(forKey: url) {
///   Task { try await LoadContext.leaving { try await thumbnail(of: url) } }
///   return try await fetch(url)
/// }
/// ```
public enum LoadContext {
  /// Runs an operation as a part of no load, as `Task.detached` does, in the task of the caller.
  ///
  /// A load that waits for such an operation, which in turn waits for the load, waits for ever.
  public static func leaving<Result>(
    _ operation: () async throws -> Result
  ) async rethrows -> Result {
    try await FlightContext.leaving(operation)
  }
}

/// What one call through the cache does otherwise than by default.
///
/// ```swift
/// let quick = try pages.value(forKey: url, options: .memoryOnly)
/// let options: LoadOptions = [.reload, .staleIfFailing(.seconds(86_400))]
/// let fresh = try await pages.value(forKey: url, options: options) { try await fetch(url) }
/// ```
///
/// Options can be joined in a list. The longer of two durations holds, and the later of two
/// extensions.
public struct LoadOptions: Sendable, Hashable {
  /// How long past its expiry a value is served at once while one task loads a fresh one. The
  /// default is zero: it is not.
  ///
  /// Sweeps must spare expired entries for as long: set the disk's `expiredGrace` too. A load that
  /// has taken longer than this, and than 60 s, is given up by the next who asks, whom it would keep
  /// waiting; one that a caller has waited for ends, as every load does, with its last caller.
  public var staleWhileRevalidating = Duration.zero
  /// How long past its expiry a value is served when a load throws, instead of the error. The
  /// default is zero: it is not.
  ///
  /// Sweeps must spare expired entries for as long: set the disk's `expiredGrace` too. With a
  /// `failureLifetime` the source is not asked again for that long.
  public var staleIfFailing = Duration.zero
  /// How long the error of a load that failed is handed to those who ask, without another load. The
  /// default is zero: the next who asks loads again. At most 1,000 errors are kept.
  public var failureLifetime = Duration.zero
  /// What the read does to the expiry of the value that it finds on disk; as configured when nil,
  /// the default.
  public var extending: ExpirationExtending?
  @usableFromInline
  var switches: Switches = []

  /// The options that are on or off.
  @usableFromInline
  struct Switches: OptionSet, Sendable, Hashable {
    @usableFromInline
    let rawValue: UInt8

    @inlinable
    init(rawValue: UInt8) { self.rawValue = rawValue }

    static let memoryOnly = Switches(rawValue: 1)
    static let diskOnly = Switches(rawValue: 2)
    static let reload = Switches(rawValue: 4)
    static let cacheOnly = Switches(rawValue: 8)
    static let expired = Switches(rawValue: 16)
    /// Those that keep a value in memory from being the answer: `diskOnly` and `reload`.
    @inlinable
    static var pastMemory: Switches { Switches(rawValue: 6) }
  }

  /// How long a load behind a value that was served expired may take: by then it is of no more use,
  /// and longer than most requests wait for a server.
  var refreshTime: Duration { max(staleWhileRevalidating, .seconds(60)) }

  /// Whether a value in memory answers the call.
  @inlinable
  var mayAnswerFromMemory: Bool { switches.rawValue & Switches.pastMemory.rawValue == 0 }

  var isMemoryOnly: Bool { switches.contains(.memoryOnly) }
  var isDiskOnly: Bool { switches.contains(.diskOnly) }
  var reloads: Bool { switches.contains(.reload) }
  var isCacheOnly: Bool { switches.contains(.cacheOnly) }
  var allowsExpired: Bool { switches.contains(.expired) }

  /// Creates the default options.
  public init() {}

  /// Creates options.
  public init(
    staleWhileRevalidating: Duration = .zero, failureLifetime: Duration = .zero,
    staleIfFailing: Duration = .zero
  ) {
    self.staleWhileRevalidating = staleWhileRevalidating
    self.failureLifetime = failureLifetime
    self.staleIfFailing = staleIfFailing
  }

  private init(_ switches: Switches) {
    self.switches = switches
  }
}

extension LoadOptions {
  /// Neither reads nor writes the disk tier: a value that is only there is a miss.
  ///
  /// A loaded value is kept in memory alone, for at most `memoryExpiration`. An older one on disk is
  /// removed, because it would be served again afterwards.
  public static let memoryOnly = LoadOptions(.memoryOnly)
  /// Neither reads nor fills the memory tier.
  public static let diskOnly = LoadOptions(.diskOnly)
  /// Loads a value although there is a valid one, which goes on being served to other callers until
  /// the new one is there. Joins a load of the key that is going on.
  public static let reload = LoadOptions(.reload)
  /// Never loads: without a value the call throws `CacheError` with `.notCached`.
  public static let cacheOnly = LoadOptions(.cacheOnly)
  /// Takes an expired value for a valid one, as long as its file is there, and loads none then.
  public static let allowingExpired = LoadOptions(.expired)
  /// Leaves the expiry of the value that is found on disk as it is.
  public static let withoutExtending = extending(.off)

  /// Lets the read do this to the expiry of the value that is found on disk.
  public static func extending(_ extending: ExpirationExtending) -> LoadOptions {
    var options = LoadOptions()
    options.extending = extending
    return options
  }

  /// Serves a value that expired less than a time ago at once, while one task loads a fresh one.
  public static func staleWhileRevalidating(_ time: Duration) -> LoadOptions {
    LoadOptions(staleWhileRevalidating: time)
  }

  /// Serves a value that expired less than a time ago when the load throws.
  public static func staleIfFailing(_ time: Duration) -> LoadOptions {
    LoadOptions(staleIfFailing: time)
  }

  /// Hands the error of a load that failed to callers for a time, without another load.
  public static func keepingFailures(for time: Duration) -> LoadOptions {
    LoadOptions(failureLifetime: time)
  }
}

extension LoadOptions: ExpressibleByArrayLiteral {
  /// Joins options.
  public init(arrayLiteral options: LoadOptions...) {
    self.init()
    for other in options { join(other) }
  }

  private mutating func join(_ other: LoadOptions) {
    staleWhileRevalidating = max(staleWhileRevalidating, other.staleWhileRevalidating)
    staleIfFailing = max(staleIfFailing, other.staleIfFailing)
    failureLifetime = max(failureLifetime, other.failureLifetime)
    extending = other.extending ?? extending
    switches.formUnion(other.switches)
  }

  /// Traps where two options contradict each other.
  func checkPreconditions() {
    precondition(
      !switches.isSuperset(of: [.memoryOnly, .diskOnly]),
      "a call cannot be memoryOnly and diskOnly at once")
    precondition(
      !switches.isSuperset(of: [.reload, .cacheOnly]), "a call cannot reload and be cacheOnly")
  }
}

/// A replacement for the loads of a cache, as a fixture is in a test: the closure that the caller
/// passes runs only if the replacement calls it.
package protocol LoadReplacement: Sendable {
  /// Returns the value that the load would return.
  func load<Value>(
    _ key: CacheKey, for cache: Cache<Value>, expiration: Expiration?,
    _ load: @Sendable () async throws -> Loaded<Value>
  ) async throws -> Value

  /// Gives up what the replacement holds; the cache has been closed.
  func close()
}
