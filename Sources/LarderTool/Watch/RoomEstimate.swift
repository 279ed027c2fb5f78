import Larder
import LarderBasics
import LarderSystem

/// What a cache with more room would have kept, as looks at its entries show.
///
/// What has gone before its expiry counts as evicted, also if somebody removed it. The most bytes
/// at a look are taken for the limit. An entry that went and came between two looks is not seen.
struct RoomEstimate: Sendable {
  private var larger = LargerLimits()
  private var known: [String: DiskEntry]?
  private var fullest = 0
  private var (evicted, stored, double, fourfold) = (0, 0, 0, 0)
  /// The last use of the entry that was evicted last.
  private var lastUse = Timestamp.never

  /// Compares a look with the one before.
  mutating func look(_ entries: [DiskEntry], at now: Timestamp) {
    let found = Dictionary(entries.map { ($0.name, $0) }) { first, _ in first }
    let gone = (known ?? found).values.filter { found[$0.name] == nil && !$0.isExpired(at: now) }
    for entry in gone.sorted(by: { $0.lastAccess < $1.lastAccess }) {
      evicted += 1
      lastUse = entry.lastAccess
      larger.note(
        Self.hash(entry), byteCount: UInt64(entry.byteCount), expiry: entry.expiry ?? .never)
    }
    for entry in found.values where known.map({ $0[entry.name] == nil }) ?? false {
      stored += 1
      let more = larger.countMiss(Self.hash(entry), at: now)
      (double, fourfold) = (double + more.double, fourfold + more.fourfold)
      larger.forget(Self.hash(entry))
    }
    (known, fullest) = (found, max(fullest, entries.byteCount))
    larger.keepLimits(
      beside: (UInt64(entries.byteCount), entries.count), limits: (fullest, nil), share: 0.5)
  }

  private static func hash(_ entry: DiskEntry) -> UInt64 {
    UInt64(bitPattern: Int64(entry.name.hashValue))
  }

  /// Returns the line for people; nil as long as nothing was evicted.
  func line(at now: Timestamp) -> String? {
    if evicted == 0 { return nil }
    return "\(evicted.grouped) evicted, the latest last used \(lastUse.relativeText(at: now)); "
      + "of \(stored.grouped) stored, 2 × the room would have kept \(double.grouped), "
      + "4 × \(fourfold.grouped)"
  }
}
