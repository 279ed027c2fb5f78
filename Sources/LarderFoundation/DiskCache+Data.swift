public import FoundationEssentials

extension DiskCache {
  /// Returns the value stored under a key, read from its file straight into the result's memory;
  /// nil when there is no valid one. Counts as a use.
  ///
  /// - Throws: `CacheError`, as `value(forKey:extending:)` does; also `.resourcesExhausted` for a
  ///   value larger than half of the memory that the process may use, and `.io` when the file is
  ///   cut short while it is read.
  /// - Complexity: O(bytes).
  public func data(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil
  ) throws -> Data? {
    try withFile(forKey: key, extending: extending) { file in
      try file.checkFitsInMemory()
      var data = Data(count: file.byteCount)
      var span = data.mutableBytes
      try file.read(into: &span)
      return data
    }
  }

  /// Stores Foundation's bytes in place of an older value, without a copy.
  ///
  /// - Throws: `CacheError`, as the store of a span does.
  /// - Complexity: O(bytes).
  @discardableResult
  public func store(
    _ data: Data, forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) throws(CacheError) -> StoreOutcome {
    try store(data.span, forKey: key, expiration: expiration, extendedData: extendedData)
  }
}
