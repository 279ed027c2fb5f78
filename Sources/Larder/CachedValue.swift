/// A value and what is kept beside it.
public struct CachedValue<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  /// The caller's own data beside the value, such as an ETag; empty when there is none.
  public let extendedData: [UInt8]
  /// When the value expires or has expired; nil for never.
  public let expiry: Timestamp?
  /// The last access before this one, as far as it has reached the disk.
  public let lastAccess: Timestamp
  /// Whether the value has expired, by the cache's clock when it was read.
  public let hasExpired: Bool
}

extension CachedValue: Equatable where Value: Equatable {}
extension CachedValue: Hashable where Value: Hashable {}

/// What a load that knows the previous value came to.
///
/// ```swift
/// let page = try await pages.value(forKey: url) { previous in
///   let response = try await fetch(url, ifNoneMatch: previous?.extendedData)
///   if response.status == 304 { return .notModified(expiration: .seconds(60)) }
///   return .value(response.body, expiration: .seconds(60), extendedData: response.eTag)
/// }
/// ```
public enum Loaded<Value: Sendable>: Sendable {
  /// A new value, which is stored in place of the previous one.
  ///
  /// The expiration is the configured one when nil. The extended data are up to 1,024 bytes; none
  /// are kept when they are empty.
  case value(Value, expiration: Expiration? = nil, extendedData: [UInt8] = [])
  /// The previous value is still good, and is valid for the expiration from now; for the configured
  /// one when nil.
  ///
  /// Its content and extended data are not written again, only its stamps and lifetime. If it was
  /// replaced or removed meanwhile, the callers get it all the same and nothing is stored. Without a
  /// previous value the callers get a `CacheError` with `.callerFailed`.
  case notModified(expiration: Expiration? = nil)
  /// A value for all callers that wait, which is stored nowhere.
  ///
  /// The previous value is removed, unless `keepsPrevious` is true: then it stays as it is, expired
  /// or not.
  case notKept(Value, keepsPrevious: Bool = false)
}
