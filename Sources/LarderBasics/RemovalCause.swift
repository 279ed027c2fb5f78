/// Why a value left a cache.
public enum RemovalCause: String, Sendable, Hashable, CaseIterable {
  /// The caller removed it: by key, with everything else, or with a call to trim.
  case explicit
  /// A store under the same key took its place, or was rejected and left nothing in its place.
  case replaced
  /// Its expiry or the age limit had passed.
  case expired
  /// It was the least recently used when a limit was passed or lowered.
  case evicted
  /// Its bytes were not those that were stored.
  case corrupt
}
