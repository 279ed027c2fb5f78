public import LarderBasics
public import LarderSystem

/// What is known of one entry without its value.
public struct DiskEntry: Sendable, Hashable {
  /// The file's name.
  public let name: String
  /// The key, if the file says it. Untrusted text: escape it before showing it to anyone.
  public let key: CacheKey?
  /// The bytes of the value.
  public let byteCount: Int
  /// The bytes that the file system set aside for the file.
  public let allocatedByteCount: Int
  /// The last access on disk.
  public let lastAccess: Timestamp
  /// The expiry on disk, nil for never.
  public let expiry: Timestamp?
  /// What an extending access does to the expiry, nil when the file does not say.
  public let lifetime: RecordedLifetime?
  /// The caller's own data beside the value, empty when there is none.
  public let extendedData: [UInt8]
  /// Whether the file can be opened. If not, its name and status are all that is known, and where
  /// the system does not tell the status either, the length is 0.
  public internal(set) var isReadable = true

  /// Whether the entry has expired at a point in time.
  ///
  /// The expiry itself counts as past: an entry that expires now has expired.
  public func isExpired(at now: Timestamp) -> Bool {
    expiry.map { $0 <= now } ?? false
  }
}

/// How the expiry of an entry on disk behaves.
public enum RecordedLifetime: Sendable, Hashable {
  /// An extending access moves it to this many seconds later.
  case seconds(Int)
  /// There is none.
  case never
  /// It was given as a date and stays.
  case fixed
}

extension RecordedLifetime {
  /// Nil where nothing is recorded.
  init?(_ lifetime: Lifetime) {
    switch lifetime {
    case .seconds(let count): self = .seconds(Int(count))
    case .never: self = .never
    case .fixed: self = .fixed
    case .unknown: return nil
    }
  }
}

/// A value and what was read with it from one open file.
public struct DiskValue: Sendable, Hashable {
  /// The value's bytes.
  public let bytes: [UInt8]
  /// The caller's own data beside the value, empty when there is none.
  public let extendedData: [UInt8]
  /// When the value expires, nil for never; an extension by this very read is included.
  public let expiry: Timestamp?
  /// The last access before this one, as far as it has reached the disk.
  public let lastAccess: Timestamp
  /// Whether the value has expired, by the cache's clock at the read. True only for a read that
  /// allows expired values.
  public let hasExpired: Bool
}

/// What a removal of many entries came to. It goes on past a failure.
///
/// An entry that somebody used, changed or stored anew after it was chosen stays, and counts
/// nowhere.
public struct BulkRemoval: Sendable, Hashable {
  /// The number of entries removed.
  public internal(set) var removed = 0
  /// The number of entries that could not be removed.
  public internal(set) var failed = 0
  /// The bytes of the values removed.
  public internal(set) var byteCount = 0

  /// Creates the result of having done nothing.
  public init() {}

  /// Counts another removal's outcome with this one's.
  mutating func add(_ other: BulkRemoval) {
    removed += other.removed
    failed += other.failed
    byteCount.addSaturating(UInt64(other.byteCount))
  }
}
