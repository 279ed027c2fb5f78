import LarderBasics
public import LarderSystem

/// What a walk through a cache's directory counted. Nothing in it was read or changed.
public struct DirectorySurvey: Sendable, Hashable {
  /// Files that are entries, expired ones included.
  public internal(set) var entryCount = 0
  /// The bytes of their values.
  public internal(set) var byteCount = 0
  /// The bytes that the file system set aside for them.
  public internal(set) var allocatedByteCount = 0
  /// Entries that have expired.
  public internal(set) var expiredCount = 0
  /// Things that are not the cache's: other names, directories, links, other people's files.
  public internal(set) var foreignCount = 0
  /// Writes in progress, or left behind by a crash.
  public internal(set) var temporaryCount = 0
  /// Whether the directory has the tag of a cache.
  public internal(set) var hasTag = false
  /// The earliest last access.
  public internal(set) var oldestAccess: Timestamp?
  /// The latest last access.
  public internal(set) var newestAccess: Timestamp?
  /// The earliest expiry of an entry that has not expired, nil when none will.
  public internal(set) var nextExpiry: Timestamp?

  /// Whether the directory can be taken for a cache: it has the tag or an entry, or holds nothing.
  public var isCache: Bool {
    hasTag || entryCount > 0 || temporaryCount > 0 || foreignCount == 0
  }

  /// Counts a piece of a scan.
  mutating func add(_ piece: DirectoryScan.Piece, now: Timestamp) {
    foreignCount += piece.foreignCount
    temporaryCount += piece.temporaries.count
    for entry in piece.entries { add(entry, now: now) }
  }

  private mutating func add(_ entry: IndexedEntry, now: Timestamp) {
    entryCount += 1
    byteCount.addSaturating(entry.byteCount)
    allocatedByteCount.addSaturating(entry.allocatedByteCount)
    oldestAccess = min(oldestAccess ?? entry.lastAccess, entry.lastAccess)
    newestAccess = max(newestAccess ?? entry.lastAccess, entry.lastAccess)
    if entry.expiry.hasCome(at: now) {
      expiredCount += 1
    } else if entry.expiry < .never {
      // Never is no expiry that could be the next one.
      nextExpiry = min(nextExpiry ?? entry.expiry, entry.expiry)
    }
  }
}
