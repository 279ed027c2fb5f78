@testable import Larder
@testable import LarderMemory

extension MemoryCache {
  /// Walks the whole structure and traps at the first inconsistency.
  func checkInvariants() {
    for index in 0...stripeMask { withStripe(at: index) { $0.checkInvariants() } }
  }
}

extension LRU {
  /// Walks the structure and traps at the first inconsistency.
  func checkInvariants() {
    slab.checkInvariants()
    precondition(slab.totalCost <= settings.costLimit, "the cost is above its limit")
    precondition(slab.count <= settings.countLimit, "the count is above its limit")
    precondition(
      slab.hasTimes == settings.keepsTimes, "times are kept by one and not by the other")
    guard settings.keepsTimes else { return }
    var slot = slab.mostRecent
    while slot != .none {
      let expiry = slab.times[slot.index].expiry
      precondition(expiry >= earliestExpiry, "an entry expires before the earliest expiry")
      precondition(
        slot.number >= sweepSlot || expiry >= sweptExpiry,
        "an entry that a sweep is past expires before the earliest expiry it will leave")
      slot = slab.next(after: slot)
    }
  }
}

extension Slab {
  /// Walks the list, the free chain and the table, and compares them with the totals.
  func checkInvariants() {
    var (used, cost, spilled) = (0, 0, 0)
    var slot = mostRecent
    var last = Slot.none
    while slot != .none {
      precondition(links[slot.index].previous == last, "the list is torn")
      let found = table.first(links[slot.index].tag) { $0 == slot }
      precondition(found == slot, "an entry is not in the table")
      used += 1
      precondition(used <= count, "the list is longer than the count")
      precondition(isOccupied(slot), "an entry looks like a free slot")
      cost += self.cost(of: slot)
      if links[slot.index].cost == SlotLink.spilledCost { spilled += 1 }
      last = slot
      slot = next(after: slot)
    }
    precondition(leastRecent == last, "the list ends elsewhere")
    precondition(used == count, "the count is not that of the list")
    precondition(cost == totalCost, "the total is not the sum of the costs")
    precondition(spilled == spilledCosts.count, "a spilled cost is left over")
    precondition(used + freeCount + unchainedCount == Int(end) - 1, "a slot is lost")
    precondition(chainEnd == .max || chainEnd <= end, "a compaction is beyond the slots")
    precondition(table.takenCount == count, "the table holds something else than the list")
    precondition(!hasTimes || times.capacity >= links.capacity, "the times are too short")
    precondition(entries.capacity >= links.capacity, "the entries are too short")
  }

  /// The number of free slots that only a compaction finds.
  private var unchainedCount: Int {
    guard chainEnd < end else { return 0 }
    return (chainEnd..<end).count { !isOccupied(Slot($0)) }
  }

  private var freeCount: Int {
    var (length, slot) = (0, free)
    while slot != .none {
      length += 1
      precondition(length < end, "the free chain is a ring")
      precondition(!isOccupied(slot), "a free slot looks like an entry")
      precondition(slot.number < min(chainEnd, end), "a slot is free twice")
      slot = links[slot.index].next
    }
    return length
  }
}

extension SlotTable {
  /// The number of slots in the table.
  fileprivate var takenCount: Int {
    let oldTakenCount = old?.takenCount()
    precondition((oldCount > 0) == (oldTakenCount != nil), "old buckets are left over")
    return buckets.takenCount() + (oldTakenCount ?? 0)
  }
}

extension SlotBuckets {
  fileprivate func takenCount() -> Int {
    (0...mask).count { words[$0] != 0 }
  }
}
