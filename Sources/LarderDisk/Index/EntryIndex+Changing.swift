import LarderBasics
package import LarderSystem

extension EntryIndex {
  /// The place that an entry gets in the order of last access.
  package enum Placement: Sendable {
    /// At the end, whatever its stamp says, because it was used just now.
    case mostRecent
    /// By its stamp, because a scan or a neighbour brought it.
    case byLastAccess
  }

  /// Adds an entry, or replaces the one of the same name.
  ///
  /// - Returns: Whether there was an entry of another file.
  /// - Complexity: O(1), and O(log n) for one that can expire or goes to a place before the end.
  @discardableResult
  package mutating func upsert(_ entry: IndexedEntry, order placement: Placement) -> Bool {
    let (stamp, facts) = (PackedTime(entry.lastAccess), EntryFacts(entry))
    let known = table.slot(of: entry.name)
    var (isReplacing, number) = (false, 0)
    if let known {
      unstick(known)
      number = orderNumber(of: known)
      isReplacing = table.records[known].facts.inode != facts.inode
      // Subtracted before the facts are overwritten, because only they hold the old size.
      totals -= sizes(of: known)
      table.records[known].facts = facts
    }
    let slot = known ?? table.insert(entry.name, EntryRecord(facts: facts, lastAccess: stamp))
    table.identities[slot].lengthTop = UInt8(truncatingIfNeeded: entry.byteCount >> 32)
    totals += sizes(of: slot)
    if known == nil {
      enter(slot, stamp, placement)
    } else if placement == .mostRecent || stamp != table.records[slot].lastAccess
      || number != orderNumber(of: slot)
    {
      // A scan that finds the same last access leaves the order as it is.
      leaveOrder(slot, number)
      enter(slot, stamp, placement)
    }
    setExpiry(entry.expiry, of: slot)
    return isReplacing
  }

  /// Notes the last access of a slot's entry: a use just now, or another process's on the disk.
  ///
  /// - Complexity: O(1), and O(log n) for one that does not go to the end.
  package mutating func use(
    _ slot: EntrySlot, at time: Timestamp, order placement: Placement = .mostRecent
  ) {
    unstick(slot)
    leaveOrder(slot, orderNumber(of: slot))
    enter(slot, PackedTime(time), placement)
  }

  /// Forgets the entry of a name, if there is one.
  ///
  /// - Complexity: O(1), and O(log n) for one that can expire.
  package mutating func remove(_ name: EntryName) {
    if let slot = table.slot(of: name) { remove(slot) }
  }

  /// Removes a slot from all parts, the name last: the others need it, and it frees the slot.
  mutating func remove(_ slot: EntrySlot) {
    unstick(slot)
    totals -= sizes(of: slot)
    removeExpiry(of: slot)
    leaveOrder(slot, orderNumber(of: slot))
    table.remove(slot)
  }
}

// The expiries, which are kept in their heap alone.
extension EntryIndex {
  /// The expiry of a slot's entry.
  func expiry(of slot: EntrySlot) -> PackedTime {
    let record = table.records[slot]
    if let place = record.position(marked: EntryRecord.stuck) { return stuck.nodes[place].stamp }
    return record.expiryNode == .none ? .never : expiries.nodes[record.expiryNode].stamp
  }

  /// Sets the expiry of a slot that is not stuck. One that never expires has no node.
  ///
  /// - Complexity: O(log n).
  package mutating func setExpiry(_ time: Timestamp, of slot: EntrySlot) {
    let (expiry, node) = (Self.expiry(time), table.records[slot].expiryNode)
    if node == .none {
      if expiry < .never { expiries.add(StampedSlot(slot, expiry), in: &table) }
    } else if expiry == .never {
      removeExpiry(of: slot)
    } else if expiry != expiries.nodes[node].stamp {
      expiries.sift(StampedSlot(slot, expiry), from: node.index, in: &table)
    }
  }

  mutating func removeExpiry(of slot: EntrySlot) {
    let node = exchange(&table.records[slot].expiryNode, with: .none)
    if node != .none { expiries.remove(at: node.index, in: &table) }
  }

  /// Packs an expiry. Later times count as never, so that the heap holds only what expires.
  private static func expiry(_ time: Timestamp) -> PackedTime { min(PackedTime(time), .never) }

  /// Notes that the file of an entry was checked, if it is in the state that the index has.
  ///
  /// - Returns: The entry's slot; nil, with nothing noted, if the index has another state or none.
  mutating func recordCheck(of entry: IndexedEntry) -> EntrySlot? {
    guard let slot = table.slot(of: entry.name) else { return nil }
    // Two changes within a tick of the clock have one change time, so the sizes count as well.
    let checked = EntryFacts(entry)
    var known = table.records[slot].facts
    known.check = entry.check
    guard known == checked, byteCount(at: slot) == entry.byteCount,
      expiry(of: slot) == Self.expiry(entry.expiry)
    else { return nil }
    table.records[slot].facts = checked
    return slot
  }
}
