/// How far an eviction goes. The least recently used entries leave until all that is set here holds;
/// the expired ones have left before.
struct TrimPlan: Sendable {
  /// The time of the decision.
  let now: Timestamp
  /// The entry that is never a victim, because its store set the eviction off.
  let protected: EntryName?
  /// The most bytes that the values may take afterwards.
  var maximumByteCount: UInt64?
  /// The most bytes that the files may take on disk afterwards.
  var maximumAllocatedByteCount: UInt64?
  /// The most entries afterwards.
  var maximumCount: Int?
  /// The earliest last access that may stay.
  var oldestAccess: Timestamp?
  /// The bytes on disk that must become free.
  var byteCountToFree: UInt64 = 0

  init(now: Timestamp, protected: EntryName?) {
    self.now = now
    self.protected = protected
  }

  /// Sets the most bytes by a measure.
  mutating func setMaximum(_ byteCount: UInt64, _ measure: DiskCache.SizeMeasure) {
    switch measure {
    case .bytes: maximumByteCount = byteCount
    case .allocatedBytes: maximumAllocatedByteCount = byteCount
    }
  }

  /// What a limit is trimmed to, rounded down.
  static func target(_ limit: Int, _ share: Double) -> UInt64 {
    UInt64(min(Double(limit) * share, Double(limit)))
  }

  /// Whether the entry that would be next can stay, and with it all after it.
  func isFulfilled(by index: EntryIndex, freed: UInt64, next: IndexSlot) -> Bool {
    if let most = maximumByteCount, index.byteCount > most { return false }
    if let most = maximumAllocatedByteCount, index.allocatedByteCount > most { return false }
    if let most = maximumCount, index.count > most { return false }
    if freed < byteCountToFree { return false }
    if let oldest = oldestAccess, next.access < PackedStamp(oldest) { return false }
    return true
  }
}
