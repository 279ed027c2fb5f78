/// What can name a value in a cache: text, bytes, a key, or a type of your own.
public protocol CacheKeyConvertible {
  /// The key it stands for.
  var cacheKey: CacheKey { get }
}

extension CacheKey: CacheKeyConvertible {
  @inlinable
  public var cacheKey: CacheKey { self }
}

extension String: CacheKeyConvertible {
  @inlinable
  public var cacheKey: CacheKey { CacheKey(self) }
}

extension Substring: CacheKeyConvertible {
  public var cacheKey: CacheKey { CacheKey(self) }
}

extension [UInt8]: CacheKeyConvertible {
  public var cacheKey: CacheKey { CacheKey(self) }
}
