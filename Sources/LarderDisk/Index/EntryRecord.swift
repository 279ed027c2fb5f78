import LarderBasics
import LarderSystem

/// The names and records of an index's entries.
typealias EntryTable = NameTable<EntryRecord>

/// The record of an entry in an index, beside its name: 48 bytes.
///
/// ```
/// ┌───────────────┬─────────┬───────────┬──────────┬──────────────────┬────────────┐
/// │ change time 8 │ inode 4 │ key tag 4 │ length 4 │ blocks and flag 4│ lifetime 4 │  facts
/// ├──────────────┬┴─────────┴────┬──────┴─────┬────┴───┬──────────────┴────────────┘
/// │ expiry node 4│ last access 8 │ previous 4 │ next 4 │
/// └──────────────┴───────────────┴────────────┴────────┘
/// ```
struct EntryRecord: Sendable {
  var facts: EntryFacts
  /// The position in the heap of expiries; `.none` if the entry never expires or is stuck.
  var expiryNode = EntrySlot.none
  var lastAccess: PackedTime
  /// The slot before this one in the list of last access. Of a stray or a stuck entry the position
  /// in its heap, so that no other slot takes memory for it.
  var previous = EntrySlot.none
  /// The slot after this one in the list, or a mark.
  var next = EntrySlot.none

  // The marks of entries that are not in the list.
  static var stray: EntrySlot { EntrySlot(Int(UInt32.max) - 1) }
  static var stuck: EntrySlot { EntrySlot(Int(UInt32.max) - 2) }

  /// Returns the position of an entry that has a mark; nil if it has not.
  func position(marked mark: EntrySlot) -> Int? { next == mark ? previous.index : nil }
}

/// The facts that an index keeps of a file: 28 bytes.
struct EntryFacts: Sendable, Equatable {
  let changeTime: PackedTime
  let inode: UInt32
  private var keyTag: UInt32 = 0
  /// The lower 32 of the 40 bits of the length; the upper 8 are with the name.
  let lengthBottom: UInt32
  /// The allocated size in units of 512 bytes, so that 31 bits reach to 1 TiB. The top bit is set
  /// if the check proved that the file has no extended data.
  private var blocks: UInt32
  /// The lifetime in seconds, or one of the four numbers above the longest.
  private var lifetime = unchecked

  private static let noDataFlag: UInt32 = 1 << 31
  private static let unchecked = UInt32.max
  private static let never = UInt32.max - 1
  private static let fixed = UInt32.max - 2
  private static let unknown = UInt32.max - 3

  /// Packs an entry. A time or lifetime beyond a field's range counts as the nearest that fits.
  init(_ entry: IndexedEntry) {
    inode = entry.inode
    changeTime = PackedTime(entry.changeTime)
    lengthBottom = UInt32(truncatingIfNeeded: entry.byteCount)
    blocks = UInt32(truncatingIfNeeded: entry.allocatedByteCount / 512)
    check = entry.check
  }

  private var blockCount: UInt32 { blocks & ~Self.noDataFlag }

  var allocatedByteCount: UInt64 { UInt64(blockCount) * 512 }

  var check: FileCheck? {
    get {
      let lifetime: Lifetime
      switch self.lifetime {
      case Self.unchecked: return nil
      case Self.never: lifetime = .never
      case Self.fixed: lifetime = .fixed
      case Self.unknown: lifetime = .unknown
      default: lifetime = .seconds(self.lifetime)
      }
      return FileCheck(
        lifetime: lifetime, keyTag: keyTag, hasData: blocks & Self.noDataFlag == 0)
    }
    set {
      lifetime =
        switch newValue?.lifetime {
        case nil: Self.unchecked
        case .never: Self.never
        case .fixed: Self.fixed
        case .unknown: Self.unknown
        case .seconds(let count): min(count, Self.unknown - 1)
        }
      keyTag = newValue?.keyTag ?? 0
      blocks = blockCount | (newValue?.hasData == false ? Self.noDataFlag : 0)
    }
  }
}
