/// A value and the data stored with it.
public struct CachedValue<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  /// The caller's own data stored with the value, such as an ETag; empty when there is none.
  public let extendedData: [UInt8]
  /// The expiry, past or to come; nil for never.
  public let expiry: Timestamp?
  /// The last access before this one, as far as it has reached the disk.
  public let lastAccess: Timestamp
  /// Whether the value has expired, by the cache's clock when it was read.
  public let hasExpired: Bool
}

extension CachedValue: Equatable where Value: Equatable {}
extension CachedValue: Hashable where Value: Hashable {}

/// The result of a load that gets the previous value.
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
  /// The expiration is the configured one when nil. The extended data are up to 1,024 bytes; empty
  /// ones are not kept.
  case value(Value, expiration: Expiration? = nil, extendedData: [UInt8] = [])
  /// The previous value is still good. It is valid for the expiration from now; for the configured
  /// one when nil.
  ///
  /// Only its stamps and lifetime are written again, not its content and extended data. If it was
  /// replaced or removed meanwhile, the callers still get it and nothing is stored. Without a
  /// previous value the callers get a `CacheError` with `.callerFailed`.
  case notModified(expiration: Expiration? = nil)
  /// A value for all waiting callers that is not stored.
  ///
  /// The previous value is removed, unless `keepsPrevious` is true: then it stays as it is, expired
  /// or not.
  case notKept(Value, keepsPrevious: Bool = false)
}
