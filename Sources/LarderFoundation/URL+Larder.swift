public import FoundationEssentials

extension URL: CacheKeyConvertible {
  /// The URL as a key: the bytes of its absolute string.
  public var cacheKey: CacheKey { CacheKey(absoluteString) }
}

extension DiskCache {
  /// Opens a cache in the directory of a file URL.
  ///
  /// - Throws: `CacheError`, as `init(directory:configuration:)` does with the URL's path.
  public convenience init(
    directory: URL, configuration: Configuration = Configuration()
  ) throws(CacheError) {
    try self.init(directory: directory.path, configuration: configuration)
  }
}

extension Cache {
  /// Opens a cache in the directory of a file URL.
  ///
  /// - Throws: `CacheError`, as `init(directory:coder:configuration:)` does with the URL's path.
  public convenience init(
    directory: URL, coder: Coder<Value>, configuration: CacheConfiguration = CacheConfiguration()
  ) throws(CacheError) {
    try self.init(directory: directory.path, coder: coder, configuration: configuration)
  }
}
