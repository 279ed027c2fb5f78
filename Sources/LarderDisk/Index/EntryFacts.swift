import LarderBasics
import LarderSystem

/// The facts that an index keeps of one file, beside its name, its place in the order and its
/// expiry: 36 bytes.
///
/// ```
/// ┌──────────┬───────────────┬──────────┬──────────┬──────────────────┬────────────┐
/// │ inode  8 │ change time 8 │ key tag 8│ length 4 │ blocks and flag 4│ lifetime 4 │
/// └──────────┴───────────────┴──────────┴──────────┴──────────────────┴────────────┘
/// ```
///
/// The upper 8 bits of the length are with the name; see `NameTable.Identity`.
struct EntryFacts: Sendable, Equatable {
  private let inodeWord: SplitWord
  private var changeWord: SplitWord
  private var tagWord = SplitWord(0)
  /// The lower 32 of the 40 bits of the length.
  let lengthBottom: UInt32
  /// The allocated size in units of 512 bytes, so that 31 bits reach to 1 TiB. The top bit is set
  /// if the check proved that the file has no extended data.
  private var blocks: UInt32
  /// The lifetime in seconds, or one of the four numbers above the longest.
  private var lifetime = unproven

  private static let noDataFlag: UInt32 = 1 << 31
  private static let unproven = UInt32.max
  private static let never = UInt32.max - 1
  private static let fixed = UInt32.max - 2
  private static let unknown = UInt32.max - 3

  /// Packs an entry. A time or lifetime beyond a field's range counts as the nearest that fits.
  init(_ entry: IndexedEntry) {
    inodeWord = SplitWord(entry.inode)
    changeWord = SplitWord(PackedTime(entry.changeTime).bits)
    lengthBottom = UInt32(truncatingIfNeeded: entry.byteCount)
    blocks = UInt32(truncatingIfNeeded: entry.allocatedByteCount / 512)
    proof = entry.proof
  }

  /// The inode. With the change time, it tells this state of the file from any other.
  var inode: UInt64 { inodeWord.bits }

  var changeTime: PackedTime {
    get { PackedTime(bits: changeWord.bits) }
    set { changeWord = SplitWord(newValue.bits) }
  }

  private var blockCount: UInt32 { blocks & ~Self.noDataFlag }

  var allocatedByteCount: UInt64 { UInt64(blockCount) * 512 }

  /// The result of the check of attribute and content for this inode and change time.
  var proof: FileProof? {
    get {
      let lifetime: Lifetime
      switch self.lifetime {
      case Self.unproven: return nil
      case Self.never: lifetime = .never
      case Self.fixed: lifetime = .fixed
      case Self.unknown: lifetime = .unknown
      default: lifetime = .seconds(self.lifetime)
      }
      return FileProof(
        lifetime: lifetime, keyTag: tagWord.bits, hasData: blocks & Self.noDataFlag == 0)
    }
    set {
      lifetime =
        switch newValue?.lifetime {
        case nil: Self.unproven
        case .never: Self.never
        case .fixed: Self.fixed
        case .unknown: Self.unknown
        case .seconds(let count): min(count, Self.unknown - 1)
        }
      tagWord = SplitWord(newValue?.keyTag ?? 0)
      blocks = blockCount | (newValue?.hasData == false ? Self.noDataFlag : 0)
    }
  }
}

/// 64 bits that may lie on any multiple of four bytes, so that a record of 36 or 12 bytes is not
/// padded.
struct SplitWord: Sendable, Equatable {
  private let top: UInt32
  private let bottom: UInt32

  init(_ bits: UInt64) {
    top = UInt32(truncatingIfNeeded: bits >> 32)
    bottom = UInt32(truncatingIfNeeded: bits)
  }

  var bits: UInt64 { UInt64(top) << 32 | UInt64(bottom) }
}
