import LarderBasics
package import LarderSystem

/// The index of all known entries: by name, in the order of last access, and by expiry.
///
/// It is a pure value, with no lock, clock or file. An engine keeps it under its one lock. A copy
/// is a snapshot, which can be read outside of the lock.
///
/// ```
///  table     digest 16, chain 4, extension 3, top of the length 1, bucket 4
///            record 48: see EntryRecord
///  strays    last access 8 and slot 4 of those out of order
///  expiries  expiry 8 and slot 4 of those that expire
/// ```
///
/// An entry takes 88 bytes, or 76 if it never expires. Its parts lie in arrays of chunks, under its
/// slot. Entries out of the order of use take 12 bytes more, for as many as there were at once.
///
/// The order of last access:
///
/// ```
///  list     oldest ⇄ … ⇄ … ⇄ newest     what was used here goes to the end
///  strays   a heap, the oldest on top   what a scan or a neighbour brought out of order
/// ```
///
/// The next to go is the older of the two that come first; if both have the same stamp, the first
/// by name. Where entries go by their value, each class of value has such an order. Nothing is ever
/// sorted all at once. If a scan brings a million entries, or they share a stamp, each choice among
/// them costs O(log n), and no caller pauses.
///
/// Stamps count from 1970 to 2514, lengths and allocated bytes to 1 TiB. A value beyond counts as
/// the nearest of these.
///
/// - Complexity: O(1), if nothing else is said. No operation takes time in proportion to the number
///   of entries, not even when a part grows or the first entry is chosen to go, except
///   `emptyMarks()`.
package struct EntryIndex: Sendable {
  var table = EntryTable()
  /// The order of last access; of several, that of the class which is selected.
  var order = UseOrder()
  /// The orders of the other classes of value, and an empty one in the place of the selected one.
  var classes: [UseOrder]
  var selected = 0
  /// The measure of the sizes by which entries are in classes; nil if there is one order.
  package let measure: DiskCache.SizeMeasure?
  var expiries = SlotHeap(placesExpiries: true)
  /// The entries of which nothing chooses one to go, because their files could not be removed, with
  /// their expiries; see `stick(_:)`.
  var stuck = SlotHeap()
  package internal(set) var totals = IndexTotals()
  /// The sizes of the stuck entries, which `totals` includes.
  var stuckTotals = IndexTotals()

  /// Creates an index without entries, which are to be in classes of value by a measure, or nil.
  package init(inClassesBy measure: DiskCache.SizeMeasure? = nil) {
    self.measure = measure
    classes = Array(repeating: UseOrder(), count: measure == nil ? 1 : UseOrder.classCount)
  }

  /// Returns the entry of a name.
  package func entry(named name: EntryName) -> IndexedEntry? {
    table.slot(of: name).map { entry(at: $0) }
  }

  /// Whether there is an entry of a name.
  package func contains(_ name: EntryName) -> Bool { table.slot(of: name) != nil }

  /// Returns the slot of an entry.
  package func slot(of name: EntryName) -> EntrySlot? { table.slot(of: name) }

  /// Returns the slot and the check of a name's entry, if its attribute and content were checked
  /// for exactly this state of this file and for this key.
  ///
  /// Looks at the facts in place and puts no entry together.
  func verified(
    _ name: EntryName, inode: UInt32, changeTime: Timestamp, keyTag: UInt32
  ) -> (slot: EntrySlot, check: FileCheck)? {
    guard let slot = table.slot(of: name) else { return nil }
    let facts = table.records[slot].facts
    guard facts.inode == inode, facts.changeTime == PackedTime(changeTime),
      let check = facts.check, check.keyTag == keyTag
    else { return nil }
    return (slot, check)
  }

  /// Puts a slot's entry together from the parts.
  func entry(at slot: EntrySlot) -> IndexedEntry {
    let record = table.records[slot]
    return IndexedEntry(
      name: table.name(of: slot), byteCount: byteCount(at: slot),
      allocatedByteCount: record.facts.allocatedByteCount,
      lastAccess: record.lastAccess.timestamp, expiry: expiry(of: slot).timestamp,
      inode: record.facts.inode, changeTime: record.facts.changeTime.timestamp,
      check: record.facts.check)
  }

  /// Returns the length, from the 8 bits with the name and the 32 with the facts.
  // This function and the next are inlined, because a call copies the whole index.
  @inline(__always)
  func byteCount(at slot: EntrySlot) -> UInt64 {
    UInt64(table.identities[slot].lengthTop) << 32 | UInt64(table.records[slot].facts.lengthBottom)
  }

  /// Returns the totals of one entry.
  @inline(__always)
  func sizes(of slot: EntrySlot) -> IndexTotals {
    let allocated = table.records[slot].facts.allocatedByteCount
    return IndexTotals(byteCount: byteCount(at: slot), allocatedByteCount: allocated)
  }

  /// Returns a mark for every slot that there is now, with none set.
  ///
  /// - Complexity: O(n), for a byte each that is set to zero.
  func emptyMarks() -> [Bool] { Array(repeating: false, count: table.slotCount) }

  /// Returns the names in a range of slots that existed when the marks were made and have none.
  ///
  /// - Complexity: O(slots).
  func names(in slots: Range<Int>, lacking marks: [Bool]) -> [EntryName] {
    table.names(in: slots.clamped(to: marks.indices)) { !marks[$0.index] }
  }
}

/// An entry as the index knows it.
package struct IndexedEntry: Sendable, Hashable {
  /// The full name of the file, extension included.
  package var name: EntryName
  /// The value's length, at most `maximumByteCount`.
  package var byteCount: UInt64
  /// The bytes that the file takes on disk: a multiple of 512, at most 1 TiB − 512.
  var allocatedByteCount: UInt64
  /// The last use that this process knows of. The disk may lag behind it.
  var lastAccess: Timestamp
  /// The expiry; `Timestamp.never` if the entry does not expire.
  package var expiry: Timestamp
  /// The inode, folded. With the change time, it identifies the state that this is known of.
  var inode: UInt32
  var changeTime: Timestamp
  /// What the check of attributes and content has shown for this inode and change time; nil if this
  /// state of the file was not checked.
  var check: FileCheck?

  /// The largest length that is counted: `truncate` can make a file of 2⁶³ bytes.
  static let maximumByteCount: UInt64 = 1 << 40 - 1
}

extension IndexedEntry {
  /// Makes an entry from a file's status, unverified if no check is given.
  package init(
    name: EntryName, status: FileStatus, lastAccess: Timestamp? = nil, check: FileCheck? = nil
  ) {
    self.init(
      name: name, byteCount: min(status.byteCount, Self.maximumByteCount),
      allocatedByteCount: min(status.allocatedByteCount, Self.maximumByteCount),
      lastAccess: lastAccess ?? status.lastAccess, expiry: status.modification.asExpiry,
      inode: status.inodeMark, changeTime: status.change, check: check)
  }
}

extension FileStatus {
  /// The inode in 32 bits, as the index keeps it.
  var inodeMark: UInt32 { UInt32(truncatingIfNeeded: inode ^ inode >> 32) }
}

/// What the check of a file's attributes and content has shown.
package struct FileCheck: Sendable, Hashable {
  var lifetime: Lifetime
  /// The tag of the key whose value the file holds; see `CacheKey.tag`.
  var keyTag: UInt32
  /// Whether the file may have extended data. False only if the check proved that it has none.
  var hasData: Bool
}

/// The number of entries and the sums of their sizes.
///
/// The sums have 128 bits, because any program that can write to the directory can fill it with
/// sparse files of any length. A sum must not trap then, and must be right when they are gone.
package struct IndexTotals: Sendable, Hashable {
  /// The number of entries.
  package private(set) var count = 0
  private var bytes: UInt128 = 0
  private var allocatedBytes: UInt128 = 0

  /// Creates the totals of no entry.
  init() {}

  /// Creates the totals of one entry.
  init(byteCount: UInt64, allocatedByteCount: UInt64) {
    (count, bytes, allocatedBytes) = (1, UInt128(byteCount), UInt128(allocatedByteCount))
  }

  /// The bytes of all values, or the most that 64 bits hold.
  var byteCount: UInt64 { UInt64(clamping: bytes) }

  /// The bytes allocated to all files, or the most that 64 bits hold.
  var allocatedByteCount: UInt64 { UInt64(clamping: allocatedBytes) }

  static func += (totals: inout IndexTotals, other: IndexTotals) {
    totals.count += other.count
    totals.bytes += other.bytes
    totals.allocatedBytes += other.allocatedBytes
  }

  /// Subtracts down to zero: a removal of everything may find files that had other sizes.
  static func -= (totals: inout IndexTotals, other: IndexTotals) {
    totals.count -= min(other.count, totals.count)
    totals.bytes -= min(other.bytes, totals.bytes)
    totals.allocatedBytes -= min(other.allocatedBytes, totals.allocatedBytes)
  }
}
