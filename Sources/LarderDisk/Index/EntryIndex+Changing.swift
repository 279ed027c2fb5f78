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
    names.identities[slot].lengthTop = UInt8(truncatingIfNeeded: entry.byteCount >> 32)
    totals += sizes(of: slot)
  }

  /// Notes the last access of an entry: a use just now, or what another process left on the disk.
  ///
  /// - Returns: Whether there is an entry of the name.
  @discardableResult
  package mutating func touch(
    _ name: EntryName, at time: Timestamp, order placement: Placement = .mostRecent
  ) -> Bool {
    guard let slot = names.slot(of: name) else { return false }
    use(slot, at: time, order: placement)
    return true
  }

  /// Notes the last access of a slot's entry.
  ///
  /// - Complexity: O(1), and O(log n) for one that does not go to the end.
  mutating func use(
    _ slot: EntrySlot, at time: Timestamp, order placement: Placement = .mostRecent
  ) {
    unstick(slot)
    leaveOrder(slot)
    enter(slot, PackedTime(time), placement)
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
  /// Forgets the entry of a name, if there is one.
  ///
  /// - Complexity: O(1), and O(log n) for one that can expire.
  package mutating func remove(_ name: EntryName) {
    if let slot = names.slot(of: name) { remove(slot) }
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
    guard known == checked, byteCount(at: slot) == entry.byteCount,
      expiry(of: slot) == Self.expiry(entry.expiry)
    else { return nil }
    facts[slot] = checked
    return slot
  }
}
