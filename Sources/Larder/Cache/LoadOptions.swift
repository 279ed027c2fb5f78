/// What a load through the cache may do beside loading.
public struct LoadOptions: Sendable, Hashable {
  /// How long past its expiry a value is served at once while one task loads a fresh one. The
  /// default is zero: it is not.
  ///
  /// Sweeps must spare expired entries for as long: set the disk's `expiredGrace` too.
  public var staleWhileRevalidating = Duration.zero
  /// How long the error of a load that failed is handed to those who ask, without another load. The
  /// default is zero: the next who asks loads again. At most 1,000 errors are kept.
  public var failureLifetime = Duration.zero

  /// Creates the default options.
  public init() {}

  /// Creates options.
  public init(staleWhileRevalidating: Duration = .zero, failureLifetime: Duration = .zero) {
    self.staleWhileRevalidating = staleWhileRevalidating
    self.failureLifetime = failureLifetime
  }
}
