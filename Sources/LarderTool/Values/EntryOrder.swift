/// The orders in which `larder list` shows entries.
enum EntryOrder: String, Sendable, Hashable, CaseIterable {
  /// By last access, the least recent first: the order of eviction.
  case used
  /// By expiry, the next to expire first.
  case expiry
  /// By size, the largest first.
  case size
  /// By the bytes of the key; unknown keys come last.
  case key
  /// By the name of the file.
  case name
}
