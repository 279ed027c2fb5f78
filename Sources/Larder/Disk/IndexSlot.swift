/// One entry as the index keeps it: 80 bytes.
///
/// ```
/// ┌──────────────────┬──────────────────┬───────────┬────────────┬──────────┐
/// │ digest        16 │ size, extension 8│ inode    8│ access    8│ expiry  8│
/// ├────────┬─────────┼─────────┬────────┼───────────┼────────────┼──────────┤
/// │change 8│ blocks 4│lifetime4│ older 4│ newer    4│ heap      4│tag,flags4│
/// └────────┴─────────┴─────────┴────────┴───────────┴────────────┴──────────┘
/// ```
struct IndexSlot: Sendable {
  var digest: MD5Digest
  /// 48 bits of length and 16 of the extension's number.
  private var sizeAndExtension: UInt64
  var inode: UInt64
  var access: PackedStamp
  var expiry: PackedStamp
  var change: PackedStamp
  private var blockCount: UInt32
  private var packedLifetime: UInt32
  /// The next less recently used slot.
  var older = IndexSlot.none
  /// The next more recently used slot; for a free slot, the next free one.
  var newer = IndexSlot.none
  /// The place in the heap of expiries.
  var heapPosition = IndexSlot.none
  private var tagAndFlags: UInt32

  /// No slot.
  static let none = UInt32.max

  private static let verifiedFlag: UInt32 = 1 << 31
  private static let strayFlag: UInt32 = 1 << 30
  private static let tagMask: UInt32 = (1 << 28) - 1
  private static let sizeMask: UInt64 = (1 << 48) - 1

  init(_ entry: IndexedEntry, extensionNumber: UInt16) {
    digest = entry.name.digest
    sizeAndExtension =
      min(entry.byteCount, Self.sizeMask) | UInt64(extensionNumber) << 48
    inode = entry.inode
    access = PackedStamp(entry.lastAccess)
    expiry = PackedStamp(entry.expiry)
    change = PackedStamp(entry.changeTime)
    blockCount = UInt32(clamping: entry.allocatedByteCount / 512)
    packedLifetime = Self.packed(entry.lifetime)
    tagAndFlags =
      entry.keyTag & Self.tagMask | (entry.isVerified ? Self.verifiedFlag : 0)
  }

  var byteCount: UInt64 { sizeAndExtension & Self.sizeMask }
  var extensionNumber: UInt16 { UInt16(truncatingIfNeeded: sizeAndExtension >> 48) }
  var allocatedByteCount: UInt64 { UInt64(blockCount) * 512 }
  var keyTag: UInt32 { tagAndFlags & Self.tagMask }
  var isVerified: Bool { tagAndFlags & Self.verifiedFlag != 0 }
  var canExpire: Bool { expiry < .never }

  /// Whether the slot waits for its place in the order.
  var isStray: Bool {
    get { tagAndFlags & Self.strayFlag != 0 }
    set { tagAndFlags = newValue ? tagAndFlags | Self.strayFlag : tagAndFlags & ~Self.strayFlag }
  }

  var lifetime: Lifetime? {
    switch packedLifetime {
    case .max: .never
    case .max - 1: .fixed
    case .max - 2: .unknown
    case .max - 3: nil
    default: .seconds(packedLifetime)
    }
  }

  private static func packed(_ lifetime: Lifetime?) -> UInt32 {
    switch lifetime {
    case .never: .max
    case .fixed: .max - 1
    case .unknown: .max - 2
    case nil: .max - 3
    case .seconds(let count): min(count, .max - 4)
    }
  }
}

/// A stamp in 64 bits: 34 of seconds and 30 of nanoseconds, from 1970 to 2514; what is earlier or
/// later counts as the first or last of them.
struct PackedStamp: Sendable, Hashable, Comparable {
  private let bits: UInt64

  static let never = PackedStamp(Timestamp.never)

  init(_ time: Timestamp) {
    if time.seconds < 0 {
      bits = 0
    } else if time.seconds >= 1 << 34 {
      bits = .max
    } else {
      bits = UInt64(time.seconds) << 30 | UInt64(time.nanoseconds)
    }
  }

  var timestamp: Timestamp {
    let nanoseconds = min(bits & (1 << 30 - 1), 999_999_999)
    return Timestamp(seconds: Int64(bits >> 30), nanoseconds: Int64(nanoseconds))
  }

  static func < (a: PackedStamp, b: PackedStamp) -> Bool { a.bits < b.bits }
}
