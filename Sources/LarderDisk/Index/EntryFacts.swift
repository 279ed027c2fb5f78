import LarderBasics
import LarderSystem

/// The facts that an index keeps of one file, beside its name, its place in the order and its
/// expiry: 32 bytes.
///
/// ```
/// ┌──────────┬───────────────┬──────────┬──────────┬────────────┬─────────────────────────┐
/// │ inode  8 │ change time 8 │ length 4 │ blocks 4 │ lifetime 4 │ tag 27 bits, kind, flags│
/// └──────────┴───────────────┴──────────┴──────────┴────────────┴─────────────────────────┘
/// ```
///
/// The upper 16 bits of the length are with the name; see `NameTable.Identity`.
struct EntryFacts: Sendable {
  /// The inode. With the change time, it tells this state of the file from any other.
  let inode: UInt64
  var changeTime: PackedStamp
  /// The lower 32 of the 48 bits of the length.
  let lengthBottom: UInt32
  /// The allocated size in units of 512 bytes, so that 32 bits reach to 2 TiB.
  let blockCount: UInt32
  private var lifetimeSeconds: UInt32 = 0
  private var tagAndFlags: UInt32 = 0

  static let tagMask: UInt32 = 1 << 27 - 1
  private static let dataFlag: UInt32 = 1 << 27
  private static let kindShift: UInt32 = 28
  private static let verifiedFlag: UInt32 = 1 << 31

  /// Packs an entry. A value beyond a field's range counts as the nearest that fits.
  init(_ entry: IndexedEntry) {
    inode = entry.inode
    changeTime = PackedStamp(entry.changeTime)
    lengthBottom = UInt32(truncatingIfNeeded: Self.length(of: entry))
    blockCount = UInt32(clamping: entry.allocatedByteCount / 512)
    lifetime = entry.lifetime
    keyTag = entry.keyTag
    hasData = entry.hasData
    isVerified = entry.isVerified
  }

  /// Returns the length that an entry is counted with.
  static func length(of entry: IndexedEntry) -> UInt64 {
    min(entry.byteCount, IndexedEntry.maximumByteCount)
  }

  var allocatedByteCount: UInt64 { UInt64(blockCount) * 512 }

  /// Whether these are the facts of the same state of the same file.
  ///
  /// Two changes within a tick of the clock have one change time, so the sizes count as well.
  func describeSameState(as other: EntryFacts) -> Bool {
    inode == other.inode && changeTime == other.changeTime && lengthBottom == other.lengthBottom
      && blockCount == other.blockCount
  }

  /// The tag of the key that the check proved, in 27 bits; see `CacheKey.tag`.
  var keyTag: UInt32 {
    get { tagAndFlags & Self.tagMask }
    set { tagAndFlags = tagAndFlags & ~Self.tagMask | newValue & Self.tagMask }
  }

  /// Whether attribute and content were checked for this inode and change time.
  var isVerified: Bool {
    get { tagAndFlags & Self.verifiedFlag != 0 }
    set { tagAndFlags = tagAndFlags & ~Self.verifiedFlag | (newValue ? Self.verifiedFlag : 0) }
  }

  /// Whether the file may have extended data. False only if the check proved that it has none.
  var hasData: Bool {
    get { tagAndFlags & Self.dataFlag != 0 }
    set { tagAndFlags = tagAndFlags & ~Self.dataFlag | (newValue ? Self.dataFlag : 0) }
  }

  /// The lifetime; nil as long as the attribute was not read. The kind 0 stands for nil, so that a
  /// new record knows no lifetime.
  var lifetime: Lifetime? {
    get {
      switch tagAndFlags >> Self.kindShift & 7 {
      case 1: .seconds(lifetimeSeconds)
      case 2: .never
      case 3: .fixed
      case 4: .unknown
      default: nil
      }
    }
    set {
      let kind: UInt32
      switch newValue {
      case nil: kind = 0
      case .seconds: kind = 1
      case .never: kind = 2
      case .fixed: kind = 3
      case .unknown: kind = 4
      }
      tagAndFlags = tagAndFlags & ~(7 << Self.kindShift) | kind << Self.kindShift
      lifetimeSeconds = if case .seconds(let count) = newValue { count } else { 0 }
    }
  }
}

/// A point in time in 64 bits: 34 of seconds and 30 of nanoseconds, from 1970 to 2514.
///
/// An earlier time counts as the first of these, and a later one as the last.
struct PackedStamp: Sendable, Hashable {
  /// The seconds, and below them 30 bits of nanoseconds.
  let bits: UInt64

  /// The expiry that means never.
  static let never = PackedStamp(.never)

  private static let latest: UInt64 = (1 << 34 - 1) << 30 | 999_999_999

  /// Takes bits that came from another stamp.
  init(bits: UInt64) {
    self.bits = bits
  }

  /// Packs a point in time, or the nearest that fits.
  init(_ time: Timestamp) {
    if time.seconds < 0 {
      bits = 0
    } else if time.seconds >= 1 << 34 {
      bits = Self.latest
    } else {
      bits = UInt64(time.seconds) << 30 | UInt64(time.nanoseconds)
    }
  }

  /// The point in time.
  ///
  /// It is exact for every stamp from 1970 to 2514, and the nearest of these for any other.
  var timestamp: Timestamp {
    Timestamp(seconds: Int64(bits >> 30), nanoseconds: Int64(bits & (1 << 30 - 1)))
  }
}

extension PackedStamp: Comparable {
  /// Orders by time, in one comparison of integers.
  static func < (a: PackedStamp, b: PackedStamp) -> Bool { a.bits < b.bits }
}
