import Larder

/// The orders in which `larder list` shows entries.
enum EntryOrder: String, Sendable, Hashable, CaseIterable {
  /// By last access, the least recent first: the order of eviction by default.
  case used
  /// By value, the least valuable first: the order of eviction of caches that ask for it.
  case value
  /// By expiry, the next to expire first.
  case expiry
  /// By size, the largest first.
  case size
  /// By the bytes of the key, with unknown keys last.
  case key
  /// By the name of the file.
  case name
}

extension EntryOrder {
  /// Returns whether an entry comes before another. Ties are broken by name, which is unique.
  func precedes(_ a: DiskEntry, _ b: DiskEntry) -> Bool {
    switch self {
    case .used where a.lastAccess != b.lastAccess: a.lastAccess < b.lastAccess
    case .expiry where a.expiry != b.expiry: (a.expiry ?? .never) < (b.expiry ?? .never)
    case .size where a.byteCount != b.byteCount: a.byteCount > b.byteCount
    case .key where a.key != b.key: Self.precedes(a.key, b.key)
    default: a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
    }
  }

  /// Returns whether a key comes before another, by bytes. An unknown key comes last.
  private static func precedes(_ a: CacheKey?, _ b: CacheKey?) -> Bool {
    guard let a, let b else { return a != nil }
    return a.bytes.lexicographicallyPrecedes(b.bytes)
  }
}
