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
  /// Does nothing if the entry's extension is new and the entries have 65,534 other extensions. No
  /// cache's own entries have so many.
  ///
  /// - Returns: Whether there was an entry of the name.
  /// - Complexity: O(1), and O(log n) for an entry that can expire, or that goes by its stamp to a
  ///   place before the end.
  @discardableResult
  package mutating func upsert(_ entry: IndexedEntry, order placement: Placement) -> Bool {
    if let slot = names.slot(of: entry.name) {
      replace(slot, by: entry, placement)
      return true
    }
    guard let slot = names.insert(entry.name) else {
      isComplete = false
      return false
    }
    add(slot, entry, placement)
    return false
  }

  /// Fills in the parts of a slot that has just got its name.
  private mutating func add(_ slot: EntrySlot, _ entry: IndexedEntry, _ placement: Placement) {
    facts.put(EntryFacts(entry), at: slot)
    count(slot, entry)
    place(slot, PackedStamp(entry.lastAccess), placement)
    // Inserted even if the entry never expires, so that all parts have the same length.
    expiries.insert(slot, Self.expiry(entry.expiry))
  }

  /// Replaces the facts of a slot that keeps its name.
  private mutating func replace(_ slot: EntrySlot, by entry: IndexedEntry, _ placement: Placement) {
    unstick(slot)
    // Subtracted before the facts are overwritten, because only they hold the old size.
    discount(slot)
    facts[slot] = EntryFacts(entry)
    count(slot, entry)
    let stamp = PackedStamp(entry.lastAccess)
    // A scan that finds the same last access leaves the order as it is.
    if placement == .mostRecent || stamp != order.stamp(of: slot) {
      leaveOrder(slot)
      place(slot, stamp, placement)
    }
    expiries.update(slot, Self.expiry(entry.expiry))
  }

  private mutating func place(_ slot: EntrySlot, _ stamp: PackedStamp, _ placement: Placement) {
    switch placement {
    case .mostRecent: enterLast(slot, stamp)
    case .byLastAccess: enterByStamp(slot, stamp)
    }
  }

  /// Notes that an entry was used, and is the most recently used one.
  ///
  /// - Returns: Whether there is an entry of the name.
  /// - Complexity: O(1).
  @discardableResult
  package mutating func touch(_ name: EntryName, at time: Timestamp) -> Bool {
    guard let slot = names.slot(of: name) else { return false }
    use(slot, at: time)
    return true
  }

  /// Notes a last access that another process left on the disk, and moves the entry to its place.
  ///
  /// - Complexity: O(1), and O(log n) for one that does not go to the end.
  mutating func moveAccess(of name: EntryName, to time: Timestamp) {
    guard let slot = names.slot(of: name) else { return }
    unstick(slot)
    leaveOrder(slot)
    enterByStamp(slot, PackedStamp(time))
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
    unstick(slot)
    let isChanged = facts[slot].changeTime != PackedStamp(earlier)
    // Also if nothing seems to have changed: the file may have been edited between the look at it
    // and the stamp, which moved the change time again.
    facts[slot].proof = nil
    facts[slot].changeTime = PackedStamp(changeTime)
    expiries.update(slot, Self.expiry(expiry))
    return isChanged
  }

  /// Packs an expiry. Later times count as never, so that the heap holds only what expires.
  private static func expiry(_ time: Timestamp) -> PackedStamp {
    min(PackedStamp(time), .never)
  }
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

  /// Forgets all entries and gives their memory back.
  package mutating func removeAll() {
    self = EntryIndex()
  }

  /// Removes a slot from all parts. The name goes last, because the other parts need it and
  /// removing it frees the slot.
  mutating func remove(_ slot: EntrySlot) {
    unstick(slot)
    discount(slot)
    expiries.remove(slot)
    leaveOrder(slot)
    if order.latest == slot { order.latest = .none }
    names.remove(slot)
  }

  /// Adds an entry's size to the totals.
  mutating func count(_ slot: EntrySlot, _ entry: IndexedEntry) {
    let length = EntryFacts.length(of: entry)
    names.identities[slot].lengthTop = UInt16(truncatingIfNeeded: length >> 32)
    totals.add(byteCount: length, allocatedByteCount: facts[slot].allocatedByteCount)
  }

  /// Takes an entry's size off the totals.
  mutating func discount(_ slot: EntrySlot) {
    totals.subtract(
      byteCount: byteCount(at: slot), allocatedByteCount: facts[slot].allocatedByteCount)
  }
}

extension EntryIndex {
  /// An entry whose file was checked before.
  struct Verified: Sendable {
    let slot: EntrySlot
    let proof: FileProof
  }

  /// Returns the entry of a name, if its attribute and content were checked for exactly this state
  /// of this file and for this key.
  ///
  /// - Complexity: O(1); looks at the facts in place and puts no entry together.
  func verified(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, keyTag: UInt64
  ) -> Verified? {
    guard let slot = names.slot(of: name) else { return nil }
    let facts = facts[slot]
    guard facts.inode == inode, facts.changeTime == PackedStamp(changeTime),
      let proof = facts.proof, proof.keyTag == keyTag
    else { return nil }
    return Verified(slot: slot, proof: proof)
  }

  /// Notes that the file of an entry was checked, if it is in the state that the index has.
  ///
  /// - Returns: The entry's slot; nil, with nothing noted, if the index has another state or none.
  /// - Complexity: O(1).
  mutating func verify(_ entry: IndexedEntry) -> EntrySlot? {
    guard let slot = names.slot(of: entry.name) else { return nil }
    let checked = EntryFacts(entry)
    guard checked.describeSameState(as: facts[slot]),
      byteCount(at: slot) == EntryFacts.length(of: entry),
      expiry(of: slot) == Self.expiry(entry.expiry)
    else { return nil }
    facts[slot] = checked
    return slot
  }

  /// Notes that the entry of a slot was used, and is the most recently used one.
  ///
  /// - Complexity: O(1).
  mutating func use(_ slot: EntrySlot, at access: Timestamp) {
    unstick(slot)
    moveLast(slot, PackedStamp(access))
  }

  /// Sets the expiry of a slot's entry.
  ///
  /// - Complexity: O(log n).
  package mutating func setExpiry(_ expiry: Timestamp, of slot: EntrySlot) {
    unstick(slot)
    expiries.update(slot, Self.expiry(expiry))
  }
}
