import LarderBasics
package import LarderSystem

extension EntryIndex {
  /// Where an entry goes in the order of last access.
  package enum Placement: Sendable {
    /// To the end, whatever its stamp says: it was used just now.
    case mostRecent
    /// Where its stamp says: a scan or a neighbour brought it.
    case byLastAccess
  }

  /// Adds an entry, or replaces what is known of it.
  ///
  /// Nothing happens while entries have 65,534 other extensions, which no cache's own do: what has
  /// yet another is not an entry of the index.
  ///
  /// - Returns: Whether there was one of the name.
  /// - Complexity: O(1), and O(log n) for one that can expire, or goes where its stamp says and that
  ///   is not the end.
  @discardableResult
  package mutating func upsert(_ entry: IndexedEntry, order placement: Placement) -> Bool {
    if let slot = names.slot(of: entry.name) {
      replace(slot, by: entry, placement)
      return true
    }
    if let slot = names.insert(entry.name) { add(slot, entry, placement) }
    return false
  }

  /// Fills in the parts of a slot that has just got its name.
  private mutating func add(_ slot: EntrySlot, _ entry: IndexedEntry, _ placement: Placement) {
    facts.put(EntryFacts(entry), at: slot)
    count(slot, entry)
    place(slot, PackedStamp(entry.lastAccess), placement)
    // Every part has the slot from here on, used or not: the parts are as long as each other.
    expiries.insert(slot, Self.expiry(entry.expiry))
  }

  /// Exchanges what is known under a name that stays.
  private mutating func replace(_ slot: EntrySlot, by entry: IndexedEntry, _ placement: Placement) {
    // Off the totals before the facts are overwritten: the old size is known from them alone.
    discount(slot)
    facts[slot] = EntryFacts(entry)
    count(slot, entry)
    let stamp = PackedStamp(entry.lastAccess)
    // A scan that brings nothing new about the last access leaves the order in peace.
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
  /// - Returns: Whether there is one of the name.
  /// - Complexity: O(1).
  ///
  /// For what has no file's status at hand; a read goes through `upsert(_:order:)`.
  @discardableResult
  package mutating func touch(_ name: EntryName, at time: Timestamp) -> Bool {
    guard let slot = names.slot(of: name) else { return false }
    moveLast(slot, PackedStamp(time))
    return true
  }

  /// Notes a last access that others left on the disk, and moves the entry to where that belongs.
  ///
  /// - Complexity: O(1), and O(log n) for one that does not go to the end.
  mutating func moveAccess(of name: EntryName, to time: Timestamp) {
    guard let slot = names.slot(of: name) else { return }
    leaveOrder(slot)
    enterByStamp(slot, PackedStamp(time))
  }

  /// Notes when an entry expires from now on.
  ///
  /// - Returns: Whether there is one of the name.
  /// - Complexity: O(log n).
  @discardableResult
  package mutating func setExpiry(_ expiry: Timestamp, of name: EntryName) -> Bool {
    guard let slot = names.slot(of: name) else { return false }
    expiries.update(slot, Self.expiry(expiry))
    return true
  }

  /// Notes that an entry's file was stamped by us, if it is still the one known.
  ///
  /// - Returns: Whether it is.
  /// - Complexity: O(log n).
  @discardableResult
  mutating func restamp(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, expiry: Timestamp
  ) -> Bool {
    // Another inode: somebody replaced the file, and the stamp was for the one before.
    guard let slot = names.slot(of: name), facts[slot].inode == inode else { return false }
    facts[slot].changeTime = PackedStamp(changeTime)
    expiries.update(slot, Self.expiry(expiry))
    return true
  }

  /// Notes that attribute and content of an entry were checked, if its file is still the one known.
  ///
  /// - Returns: Whether it is.
  /// - Complexity: O(1).
  @discardableResult
  mutating func markVerified(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, lifetime: Lifetime, keyTag: UInt32
  ) -> Bool {
    guard let slot = names.slot(of: name), facts[slot].inode == inode,
      facts[slot].changeTime == PackedStamp(changeTime)
    else { return false }
    facts[slot].lifetime = lifetime
    facts[slot].keyTag = keyTag
    facts[slot].isVerified = true
    return true
  }

  /// Never is the last expiry there is, so that the heap holds nothing that does not expire.
  private static func expiry(_ time: Timestamp) -> PackedStamp {
    min(PackedStamp(time), .never)
  }
}
