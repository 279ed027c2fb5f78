import LarderSystem

extension EntryIndex {
  /// Takes out the entries that have expired, the earliest first.
  ///
  /// - Complexity: O(k log n) for k expired ones.
  mutating func takeExpired(
    at now: Timestamp, except protected: EntryName?, atMost count: Int = .max
  ) -> [Victim] {
    var victims: [Victim] = []
    let limit = PackedStamp(now)
    let spared = protected.flatMap { names.slot(of: $0) }
    var sparedExpiry: PackedStamp?
    while victims.count < count, let first = expiries.first, first.expiry <= limit {
      // Set aside and not skipped: the heap has no second.
      if first.slot == spared {
        sparedExpiry = first.expiry
        expiries.remove(first.slot)
      } else {
        victims.append(take(first.slot))
      }
    }
    if let spared, let sparedExpiry { expiries.insert(spared, sparedExpiry) }
    return victims
  }

  /// Takes out the least recently used entries as long as a condition holds, which is asked before
  /// each with what all entries come to and the last access of the next one.
  ///
  /// Entries of the same last access go in the order of their names.
  ///
  /// - Complexity: O(k log n) for k victims, or O(k) for those that never expire and were used here.
  mutating func takeLeastRecent(
    except protected: EntryName?, atMost count: Int = .max,
    while condition: (_ totals: IndexTotals, _ next: Timestamp) -> Bool
  ) -> [Victim] {
    var victims: [Victim] = []
    let spared = protected.flatMap { names.slot(of: $0) }
    var aside: Aside?
    while victims.count < count {
      let slot = leastRecent
      // Asked anew for each victim, with the totals as they are without the ones before it.
      guard slot != .none, condition(totals, order.stamp(of: slot).timestamp) else { break }
      if slot == spared {
        aside = setAside(slot)
      } else {
        victims.append(take(slot))
      }
    }
    if let aside { putBack(aside) }
    return victims
  }

  /// Forgets an entry, and returns what its file will be judged by.
  private mutating func take(_ slot: EntrySlot) -> Victim {
    let victim = Victim(entry(at: slot))
    remove(slot)
    return victim
  }
}
