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
  /// - Returns: Whether there was an entry of the name.
  /// - Complexity: O(1), and O(log n) for an entry that can expire, or that goes by its stamp to a
  ///   place before the end.
  @discardableResult
  package mutating func upsert(_ entry: IndexedEntry, order placement: Placement) -> Bool {
    let (stamp, expiry) = (PackedTime(entry.lastAccess), Self.expiry(entry.expiry))
    if let slot = names.slot(of: entry.name) {
      unstick(slot)
      // Subtracted before the facts are overwritten, because only they hold the old size.
      totals -= sizes(of: slot)
      describe(slot, as: entry)
      // A scan that finds the same last access leaves the order as it is.
      if placement == .mostRecent || stamp != order.stamp(of: slot) {
        leaveOrder(slot)
        enter(slot, stamp, placement)
      }
      expiries.update(slot, expiry)
      return true
    }
    let slot = names.insert(entry.name)
    describe(slot, as: entry)
    enter(slot, stamp, placement)
    // Inserted even if the entry never expires, so that all parts have the same length.
    expiries.insert(slot, expiry)
    return false
  }

  /// Writes the facts and the length of a slot, and counts it.
  private mutating func describe(_ slot: EntrySlot, as entry: IndexedEntry) {
    facts.put(EntryFacts(entry), at: slot)
    names.identities[slot].lengthTop = UInt8(EntryFacts.length(of: entry) >> 32)
    totals += sizes(of: slot)
  }

  /// Notes that an entry was used, and is the most recently used one.
  ///
  /// - Returns: Whether there is an entry of the name.
  @discardableResult
  package mutating func touch(_ name: EntryName, at time: Timestamp) -> Bool {
    guard let slot = names.slot(of: name) else { return false }
    use(slot, at: time)
    return true
  }

  /// Notes that the entry of a slot was used, and is the most recently used one.
  mutating func use(_ slot: EntrySlot, at access: Timestamp) {
    unstick(slot)
    leaveOrder(slot)
    enter(slot, PackedTime(access), .mostRecent)
  }

  /// Notes a last access that another process left on the disk, and moves the entry to its place.
  ///
  /// - Complexity: O(1), and O(log n) for one that does not go to the end.
  mutating func moveAccess(of name: EntryName, to time: Timestamp) {
    guard let slot = names.slot(of: name) else { return }
    unstick(slot)
    leaveOrder(slot)
    enter(slot, PackedTime(time), .byLastAccess)
  }

  /// Sets the expiry of a slot's entry.
  ///
  /// - Complexity: O(log n).
  package mutating func setExpiry(_ expiry: Timestamp, of slot: EntrySlot) {
    unstick(slot)
    expiries.update(slot, Self.expiry(expiry))
  }

  /// Packs an expiry. Later times count as never, so that the heap holds only what expires.
  private static func expiry(_ time: Timestamp) -> PackedTime { min(PackedTime(time), .never) }
}

extension EntryIndex {
  /// Forgets an entry.
  ///
  /// - Returns: The entry; nil if there was none of the name.
  /// - Complexity: O(1), and O(log n) for one that can expire.
  // Inlined, so that a caller that needs no entry makes none.
  @inline(__always)
  @discardableResult
  package mutating func remove(_ name: EntryName) -> IndexedEntry? {
    guard let slot = names.slot(of: name) else { return nil }
    let entry = entry(at: slot)
    remove(slot)
    return entry
  }

  /// Removes a slot from all parts. The name goes last, because the other parts need it and
  /// removing it frees the slot.
  mutating func remove(_ slot: EntrySlot) {
    unstick(slot)
    totals -= sizes(of: slot)
    expiries.remove(slot)
    leaveOrder(slot)
    names.remove(slot)
  }

  /// Forgets all entries and gives their memory back.
  package mutating func removeAll() { self = EntryIndex() }
}

// Entries whose files were checked.
extension EntryIndex {
  /// Returns the slot and the proof of a name's entry, if its attribute and content were checked
  /// for exactly this state of this file and for this key.
  ///
  /// Looks at the facts in place and puts no entry together.
  func verified(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, keyTag: UInt64
  ) -> (slot: EntrySlot, proof: FileProof)? {
    guard let slot = names.slot(of: name) else { return nil }
    let facts = facts[slot]
    guard facts.inode == inode, facts.changeTime == PackedTime(changeTime),
      let proof = facts.proof, proof.keyTag == keyTag
    else { return nil }
    return (slot, proof)
  }

  /// Notes that the file of an entry was checked, if it is in the state that the index has.
  ///
  /// - Returns: The entry's slot; nil, with nothing noted, if the index has another state or none.
  mutating func verify(_ entry: IndexedEntry) -> EntrySlot? {
    guard let slot = names.slot(of: entry.name) else { return nil }
    // Two changes within a tick of the clock have one change time, so the sizes count as well.
    let checked = EntryFacts(entry)
    var known = facts[slot]
    known.proof = entry.proof
    guard known == checked, byteCount(at: slot) == EntryFacts.length(of: entry),
      expiry(of: slot) == Self.expiry(entry.expiry)
    else { return nil }
    facts[slot] = checked
    return slot
  }

  /// Notes that this process has stamped an entry's file, if it is still the file that is known.
  ///
  /// A file that had changed before the stamp is no longer verified. After the stamp, its change
  /// time would not show that.
  ///
  /// - Parameter earlier: The change time before the stamp, and `changeTime` after it.
  /// - Returns: Whether the file had changed since the index learned of it.
  /// - Complexity: O(log n).
  mutating func restamp(
    _ name: EntryName, inode: UInt64, from earlier: Timestamp, to changeTime: Timestamp,
    expiry: Timestamp
  ) -> Bool {
    // A different inode: the file was replaced, and the stamp was for the one before.
    guard let slot = names.slot(of: name), facts[slot].inode == inode else { return false }
    let isChanged = facts[slot].changeTime != PackedTime(earlier)
    // Also if nothing seems to have changed: the file may have been edited between the look at it
    // and the stamp, which moved the change time again.
    facts[slot].proof = nil
    facts[slot].changeTime = PackedTime(changeTime)
    setExpiry(expiry, of: slot)
    return isChanged
  }
}
