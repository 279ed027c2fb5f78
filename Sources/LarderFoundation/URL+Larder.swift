public import FoundationEssentials

extension URL: CacheKeyConvertible {
  /// The URL as a key: the bytes of its absolute string.
  public var cacheKey: CacheKey { CacheKey(absoluteString) }
}

extension URL {
  /// Returns the path of a file URL. Other URLs throw, because their path names nothing on this
  /// machine.
  fileprivate func cacheDirectory() throws(CacheError) -> String {
    guard isFileURL else {
      throw CacheError(
        .invalidArgument, operation: "open", path: absoluteString, underlying: "not a file URL")
    }
    return path
  }
}

extension DiskCache {
  /// Opens a cache in the directory of a file URL.
  ///
  /// - Throws: `CacheError`: `.invalidArgument` for a URL of another scheme, and as
  ///   `init(directory:configuration:)` does with the URL's path.
  public convenience init(
    directory: URL, configuration: Configuration = Configuration()
  ) throws(CacheError) {
    try self.init(directory: directory.cacheDirectory(), configuration: configuration)
  }
}

extension Cache {
  /// Opens a cache in the directory of a file URL.
  ///
  /// - Throws: `CacheError`: `.invalidArgument` for a URL of another scheme, and as
  ///   `init(directory:coder:configuration:)` does with the URL's path.
  public convenience init(
    directory: URL, coder: Coder<Value>, configuration: CacheConfiguration = CacheConfiguration()
  ) throws(CacheError) {
    try self.init(directory: directory.cacheDirectory(), coder: coder, configuration: configuration)
  }
}
