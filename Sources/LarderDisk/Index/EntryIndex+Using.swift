import LarderBasics
import LarderSystem

extension EntryIndex {
  /// What is known of a file that was checked before.
  struct Verified: Sendable {
    let slot: EntrySlot
    let lifetime: Lifetime
  }

  /// The entry of a name, if its attribute and content were checked for this very state of this
  /// very file and for this key.
  ///
  /// - Complexity: O(1); looks at the facts in place and puts no entry together.
  func verified(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, keyTag: UInt32
  ) -> Verified? {
    guard let slot = names.slot(of: name) else { return nil }
    let facts = facts[slot]
    guard facts.isVerified, facts.inode == inode, facts.keyTag == keyTag,
      facts.changeTime == PackedStamp(changeTime), let lifetime = facts.lifetime
    else { return nil }
    return Verified(slot: slot, lifetime: lifetime)
  }

  /// Notes that the entry of a slot was used, and is the most recently used one.
  ///
  /// - Complexity: O(1).
  mutating func use(_ slot: EntrySlot, at access: Timestamp) {
    moveLast(slot, PackedStamp(access))
  }

  /// Notes when the entry of a slot expires from now on.
  ///
  /// - Complexity: O(log n).
  mutating func setExpiry(_ expiry: Timestamp, of slot: EntrySlot) {
    expiries.update(slot, min(PackedStamp(expiry), .never))
  }
}
