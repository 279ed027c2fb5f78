public import LarderBasics
public import LarderSystem

/// An entry without its value.
public struct DiskEntry: Sendable, Hashable {
  /// The file's name.
  public let name: String
  /// The key, if the file records it; see `DiskCache.KeyRecording`. It is untrusted text, so escape
  /// it before showing it.
  public package(set) var key: CacheKey?
  /// A text to show to people where the file does not record the key but the end of it: `…` and
  /// that end, escaped. Nil if the key is known, or nothing of it.
  ///
  /// Never a key: many keys can have one end, and what may write to the file can change it.
  public package(set) var keyHint: String?
  /// The bytes of the value.
  public let byteCount: Int
  /// The bytes that the file system set aside for the file.
  public let allocatedByteCount: Int
  /// The last access on disk.
  public package(set) var lastAccess: Timestamp
  /// The expiry, nil for never: that on disk, or a later one to which a use here moves it.
  public package(set) var expiry: Timestamp?
  /// The expiration that the value was given, which an extending access starts again: a number of
  /// seconds, never, or a date; nil if the file does not record it.
  public package(set) var lifetime: Expiration?
  /// The caller's own data beside the value, empty when there is none.
  public package(set) var extendedData: [UInt8]
  /// Whether the file can be opened. If not, only its name and status are known. If the status
  /// cannot be read either, the length is 0.
  public internal(set) var isReadable = true

  /// Whether the entry has expired at a point in time.
  ///
  /// The expiry itself counts as past, so an entry that expires now has expired.
  public func isExpired(at now: Timestamp) -> Bool { expiry.map { $0 <= now } ?? false }
}

/// A value with the facts that were read with it from one open file.
public struct CachedValue<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  /// The caller's own data stored with the value, such as an ETag; empty when there are none.
  public let extendedData: [UInt8]
  /// The expiry, past or to come; nil for never. It includes an extension by this read.
  public let expiry: Timestamp?
  /// The last access before this one, as far as it has reached the disk.
  public let lastAccess: Timestamp
  /// Whether the value has expired, by the cache's clock when it was read. True only if the read
  /// allowed expired values.
  public let hasExpired: Bool

  package init(
    value: Value, extendedData: [UInt8], expiry: Timestamp, lastAccess: Timestamp, hasExpired: Bool
  ) {
    (self.value, self.extendedData) = (value, extendedData)
    self.expiry = expiry < .never ? expiry : nil
    (self.lastAccess, self.hasExpired) = (lastAccess, hasExpired)
  }
}

extension CachedValue: Equatable where Value: Equatable {}
extension CachedValue: Hashable where Value: Hashable {}

/// The outcome of a removal of many entries, which goes on past a failure.
///
/// An entry that was used, changed or stored anew after it was chosen stays and is not counted.
public struct BulkRemoval: Sendable, Hashable {
  /// The number of entries removed.
  public package(set) var removed = 0
  /// The number of entries that could not be removed.
  public internal(set) var failed = 0
  /// The bytes of the values removed.
  public package(set) var byteCount = 0
  /// The number of entries whose keys a closure could not see: their files do not record them.
  public internal(set) var unknownKeys = 0

  package init() {}

  /// Adds another removal's outcome to this one.
  mutating func add(_ other: BulkRemoval) {
    removed += other.removed
    failed += other.failed
    unknownKeys += other.unknownKeys
    byteCount.addSaturating(UInt64(other.byteCount))
  }
}

/// An entry that left the disk, as an element of a sequence of removals.
public struct DiskRemovalEvent: Sendable, Hashable {
  /// The name that its file had in the directory: the last part of ``DiskCache/path(forKey:)``.
  public let name: String
  /// The key, if the entry was removed or replaced by key; else nil: no file is opened for it.
  public let key: CacheKey?
  /// The reason for which it left.
  public let cause: RemovalCause
  /// The number of removals that the sequence left out since the event before this one, because its
  /// buffer was full. The sum over all events is exact; the position of the missing ones is not.
  public internal(set) var missedCount = 0
}
