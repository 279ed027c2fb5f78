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

/// What a load through the cache may do beside loading.
public struct LoadOptions: Sendable, Hashable {
  /// How long past its expiry a value is served at once while one task loads a fresh one. The
  /// default is zero: it is not.
  ///
  /// Sweeps must spare expired entries for as long: set the disk's `expiredGrace` too. A load that
  /// has taken longer than this, and than 60 s, is given up by the next who asks, whom it would keep
  /// waiting; one that a caller has waited for ends, as every load does, with its last caller.
  public var staleWhileRevalidating = Duration.zero
  /// How long the error of a load that failed is handed to those who ask, without another load. The
  /// default is zero: the next who asks loads again. At most 1,000 errors are kept.
  public var failureLifetime = Duration.zero

  /// How long a load behind a value that was served expired may take: by then it is of no more use,
  /// and longer than most requests wait for a server.
  var refreshTime: Duration { max(staleWhileRevalidating, .seconds(60)) }

  /// Creates the default options.
  public init() {}

  /// Creates options.
  public init(staleWhileRevalidating: Duration = .zero, failureLifetime: Duration = .zero) {
    self.staleWhileRevalidating = staleWhileRevalidating
    self.failureLifetime = failureLifetime
  }
}

/// A replacement for the loads of a cache, as a fixture is in a test: the closure that the caller
/// passes runs only if the replacement calls it.
protocol LoadReplacement: Sendable {
  /// Returns the value that the load would return.
  func load<Value>(
    _ key: CacheKey, for cache: Cache<Value>, expiration: Expiration?,
    _ load: @Sendable () async throws -> Value
  ) async throws -> Value

  /// Gives up what the replacement holds; the cache has been closed.
  func close()
}
