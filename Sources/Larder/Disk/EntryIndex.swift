/// Every entry known, by name, in the order of last access and by expiry.
///
/// A pure value: no lock, no clock, no file. Slots lie in chunks, so that growing copies nothing;
/// a table of slot numbers finds them by name; two lists hold the order of last access and a heap
/// that of expiry. An entry whose place is given by its stamp, because a scan or a neighbour brought
/// it, becomes a stray: strays are sorted and merged into the order when victims are next chosen,
/// so what is already in order is never sorted.
struct EntryIndex: Sendable {
  var slots = SlotChunks()
  private var table = NameTable()
  var order = SlotList()
  var strays = SlotList()
  var expiries = ExpiryHeap()
  private var extensions = ExtensionNumbers()
  /// The bytes of all values.
  private(set) var byteCount: UInt64 = 0
  /// The bytes set aside for all files.
  private(set) var allocatedByteCount: UInt64 = 0

  init() {}

  /// The number of entries.
  var count: Int { order.count + strays.count }

  /// Where an entry goes in the order of last access.
  enum Placement: Sendable {
    /// To the end, whatever its stamp says: it was used just now.
    case mostRecent
    /// Where its stamp says.
    case byLastAccess
  }

  /// The entry of a name.
  ///
  /// - Complexity: O(1).
  func entry(named name: EntryName) -> IndexedEntry? {
    find(name).map(entry(at:))
  }

  /// Adds an entry, or replaces what is known of it.
  ///
  /// Nothing happens when the directory holds more than 65,535 different extensions, which no
  /// cache's own does: what has yet another is not an entry of the index.
  ///
  /// - Returns: Whether there was one of the name.
  /// - Complexity: O(1), and O(log n) for one that can expire.
  @discardableResult
  mutating func upsert(_ entry: IndexedEntry, order placement: Placement) -> Bool {
    guard let number = extensions.number(of: entry.name.fileExtension) else { return false }
    let wasThere = remove(entry.name) != nil
    let slot = slots.add(IndexSlot(entry, extensionNumber: number))
    table.insert(slot, in: slots)
    byteCount += slots[slot].byteCount
    allocatedByteCount += slots[slot].allocatedByteCount
    place(slot, placement)
    if slots[slot].canExpire { expiries.insert(slot, in: &slots) }
    return wasThere
  }

  private mutating func place(_ slot: UInt32, _ placement: Placement) {
    let isLast = order.newest == IndexSlot.none || slots[order.newest].access < slots[slot].access
    if placement == .mostRecent || isLast {
      order.append(slot, in: &slots)
    } else {
      slots[slot].isStray = true
      strays.append(slot, in: &slots)
    }
  }

  /// Forgets an entry.
  ///
  /// - Complexity: O(1), and O(log n) for one that can expire.
  @discardableResult
  mutating func remove(_ name: EntryName) -> IndexedEntry? {
    guard let slot = find(name) else { return nil }
    let entry = entry(at: slot)
    remove(slot)
    return entry
  }

  mutating func remove(_ slot: UInt32) {
    byteCount -= slots[slot].byteCount
    allocatedByteCount -= slots[slot].allocatedByteCount
    if slots[slot].heapPosition != IndexSlot.none { expiries.remove(slot, in: &slots) }
    unlink(slot)
    table.remove(slot, in: slots)
    slots.free(slot)
  }

  private mutating func unlink(_ slot: UInt32) {
    if slots[slot].isStray {
      strays.remove(slot, in: &slots)
      slots[slot].isStray = false
    } else {
      order.remove(slot, in: &slots)
    }
  }

  /// Forgets all entries.
  mutating func removeAll() {
    self = EntryIndex()
  }

  /// Takes note that an entry's file was stamped by us, if it is still the one known.
  ///
  /// - Complexity: O(log n).
  mutating func restamp(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, expiry: Timestamp
  ) {
    guard let slot = find(name), slots[slot].inode == inode else { return }
    slots[slot].change = PackedStamp(changeTime)
    if slots[slot].heapPosition != IndexSlot.none { expiries.remove(slot, in: &slots) }
    slots[slot].expiry = PackedStamp(expiry)
    if slots[slot].canExpire { expiries.insert(slot, in: &slots) }
  }

  /// The earliest expiry, nil when nothing can expire.
  ///
  /// - Complexity: O(1).
  var nextExpiry: Timestamp? {
    expiries.first.map { slots[$0].expiry.timestamp }
  }
}

extension EntryIndex {
  /// The number of a name's slot.
  func find(_ name: EntryName) -> UInt32? {
    guard let number = extensions.knownNumber(of: name.fileExtension) else { return nil }
    return table.find(name.digest, number, in: slots)
  }

  func name(at slot: UInt32) -> EntryName {
    EntryName(
      digest: slots[slot].digest, fileExtension: extensions[slots[slot].extensionNumber])
  }

  func entry(at number: UInt32) -> IndexedEntry {
    let slot = slots[number]
    return IndexedEntry(
      name: name(at: number), byteCount: slot.byteCount,
      allocatedByteCount: slot.allocatedByteCount, lastAccess: slot.access.timestamp,
      expiry: slot.expiry.timestamp, inode: slot.inode, changeTime: slot.change.timestamp,
      lifetime: slot.lifetime, isVerified: slot.isVerified, keyTag: slot.keyTag)
  }
}
