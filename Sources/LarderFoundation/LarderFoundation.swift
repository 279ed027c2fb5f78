public import FoundationEssentials
// Larder for programs that use Foundation: `Data`, `Date`, `URL` and `Codable`, over
// FoundationEssentials alone.
@_exported public import Larder

extension Coder<Data> {
  /// Foundation's bytes as they are. `DiskCache.data(forKey:)` avoids the copy that this makes.
  ///
  /// Memory keeps a copy too, so that a slice does not keep the whole of which it is a part, and
  /// begins at index 0 from both tiers.
  public static let data = {
    var coder = Coder(isOfBytes: true, encode: { [UInt8]($0) }, decode: { Data($0) })
    coder.compacted = { Data([UInt8]($0)) }
    return coder
  }()
}

extension Coder where Value: Codable {
  /// JSON by coders that the functions make for each value, because Foundation's are not safe to
  /// share. The default ones have Foundation's settings, but sort the keys of each object.
  ///
  /// Sorted, so that equal values have equal bytes: otherwise the order changes from one process to
  /// the next, and a fixture that is recorded anew would show false changes. A `Set`, and a
  /// dictionary with other keys than strings and integers, are arrays in any order all the same.
  public static func json(
    _ type: Value.Type = Value.self,
    encoder: @escaping @Sendable () -> JSONEncoder = {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return encoder
    },
    decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
  ) -> Coder {
    Coder(
      encode: { [UInt8](try encoder().encode($0)) },
      decode: { try decoder().decode(Value.self, from: Data($0)) })
  }

  /// Any format, by a pair of functions between values and Foundation's bytes.
  ///
  /// If they throw, a store fails with `.callerFailed`, and a read is a miss.
  public static func coded(
    encode: @escaping @Sendable (Value) throws -> Data,
    decode: @escaping @Sendable (Data) throws -> Value
  ) -> Coder {
    Coder(encode: { [UInt8](try encode($0)) }, decode: { try decode(Data($0)) })
  }
}

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
    try withFile(forKey: key, extending: extending) { file in try Data(content: file) }
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

// The asynchronous spellings, which run those above on the cache's own threads.

extension DiskCache {
  /// Returns the value stored under a key; nil when there is no valid one. Counts as a use.
  ///
  /// - Throws: `CacheError`, as the synchronous call does; `.cancelled` when the task was cancelled
  ///   before the read began.
  /// - Complexity: O(bytes).
  public func data(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil
  ) async throws -> Data? {
    let key = key.cacheKey
    // Not `withFile`, because this closure waits for nothing but the disk.
    return try await executor.run("data", reads: true) {
      Result { try self.data(forKey: key, extending: extending) }
    }.get()
  }

  /// Stores Foundation's bytes in place of an older value, without a copy.
  ///
  /// - Throws: `CacheError`, as the synchronous call does; `.cancelled`, with `oldValueRemains`,
  ///   when the task was cancelled before the store began.
  /// - Complexity: O(bytes).
  @discardableResult
  public func store(
    _ data: Data, forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) async throws(CacheError) -> StoreOutcome {
    try await executor.run(
      "store", replaces: true, store, data, key.cacheKey, expiration, extendedData)
  }
}

extension Data {
  /// Reads the whole of an open value.
  fileprivate init(content file: borrowing EntryFile) throws {
    try file.checkFitsInMemory()
    self.init(count: file.byteCount)
    var span = mutableBytes
    try file.read(into: &span)
  }
}

extension Timestamp {
  /// Creates a timestamp from a date, to the nanosecond if the date is as exact. Dates beyond the
  /// range of a stamp count as its first or last time, and NaN as its first.
  public init(_ date: Date) {
    // A date counts from 2001, and is not as exact from 1970.
    let interval = date.timeIntervalSinceReferenceDate
    let whole = interval.rounded(.down)
    guard let seconds = Int64(exactly: whole + Date.timeIntervalBetween1970AndReferenceDate) else {
      // NaN is not above zero, so as an expiry it is past.
      self.init(seconds: interval > 0 ? .max : .min)
      return
    }
    self.init(seconds: seconds, nanoseconds: Int64((interval - whole) * 1_000_000_000))
  }
}

extension Date {
  /// Creates a date from a point in time, as exactly as a `Double` of seconds allows.
  public init(_ time: Timestamp) {
    let seconds = Double(time.seconds) - Date.timeIntervalBetween1970AndReferenceDate
    self.init(timeIntervalSinceReferenceDate: seconds + Double(time.nanoseconds) / 1e9)
  }
}

extension Expiration {
  /// Valid until a date, which accesses do not move.
  public static func date(_ date: Date) -> Expiration { .date(Timestamp(date)) }
}

extension URL: CacheKeyConvertible {
  /// The URL as a key: the bytes of its absolute string.
  public var cacheKey: CacheKey { CacheKey(absoluteString) }
}

extension CacheKey {
  /// Creates the key of a URL, `URL.cacheKey`.
  public init(_ url: URL) { self = url.cacheKey }
}

extension URL {
  /// Returns the path of a file URL. Other URLs throw: their path names nothing on this machine.
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
