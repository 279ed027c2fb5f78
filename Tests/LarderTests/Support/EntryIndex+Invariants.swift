@testable import Larder
@testable import LarderDisk

extension EntryIndex {
  /// Traps if the parts contradict each other.
  ///
  /// - Complexity: O(n).
  func checkInvariants() {
    if let contradiction { preconditionFailure(contradiction) }
  }

  /// A contradiction between the parts; nil if there is none.
  ///
  /// - Complexity: O(n).
  var contradiction: String? {
    table.contradiction ?? contradictionOfOrder ?? contradictionOfExpiries ?? contradictionOfTotals
  }
}

extension EntryIndex {
  private var contradictionOfTotals: String? {
    var sum = IndexTotals()
    for slot in (0..<table.slotCount).map({ EntrySlot($0) }) where table.isUsed(slot) {
      sum += sizes(of: slot)
    }
    var stuckSum = IndexTotals()
    for position in 0..<stuck.nodes.count {
      let slot = stuck.nodes[position].slot
      if !table.isUsed(slot) { return "a stuck slot has no entry" }
      if table.records[slot].position(marked: EntryRecord.stuck) != position {
        return "a stuck slot is in another place"
      }
      stuckSum += sizes(of: slot)
    }
    return sum == totals && stuckSum == stuckTotals
      ? nil : "the totals are not the sums: \(totals), \(sum); \(stuckTotals), \(stuckSum)"
  }
}

extension NameTable {
  fileprivate var contradiction: String? {
    var found = 0
    for bucket in 0..<buckets.count {
      var slot = buckets[bucket]
      while slot != .none {
        found += 1
        if !isUsed(slot) { return "a free slot is in a chain" }
        let identity = identities[slot]
        if self.bucket(of: identity.digest, identity.extensionNumber) != bucket {
          return "a slot is in another's chain"
        }
        if found > count { return "more slots are in chains than have names" }
        slot = identity.next
      }
    }
    if found != count { return "\(found) slots are in chains, \(count) have names" }
    return freeSlotCount + count == identities.count ? nil : "a slot is neither free nor used"
  }

  private var freeSlotCount: Int {
    var count = 0
    var slot = firstFree
    while slot != .none && count <= identities.count {
      count += 1
      slot = identities[slot].next
    }
    return count
  }
}

extension EntryIndex {
  fileprivate var contradictionOfOrder: String? {
    var (listed, strayCount) = (0, 0)
    for number in classes.indices {
      let order = order(number)
      guard let count = listLength(of: order, number) else { return "a list's links do not meet" }
      if let contradiction = contradiction(of: order.strays.nodes, number) { return contradiction }
      listed += count
      strayCount += order.strays.nodes.count
    }
    return listed + strayCount + stuckTotals.count == totals.count
      ? nil
      : "\(listed) slots, \(strayCount) strays and \(stuckTotals.count) stuck ones are"
        + " not \(totals.count) entries"
  }

  private func contradiction(of strays: ChunkedArray<StampedSlot>, _ number: Int) -> String? {
    for position in 0..<strays.count {
      let stray = strays[position]
      if orderNumber(of: stray.slot) != number { return "a stray is in another class" }
      let record = table.records[stray.slot]
      if record.position(marked: EntryRecord.stray) != position {
        return "a stray does not know its position"
      }
      if record.lastAccess != stray.stamp { return "a stray has two stamps" }
      if position > 0 && table.precedes(stray, strays[(position - 1) / 4]) {
        return "a stray goes before the one above it"
      }
    }
    return nil
  }
}

extension EntryIndex {
  /// Returns the number of slots in a list; nil if its links do not fit together, or a slot is of
  /// another class.
  private func listLength(of order: UseOrder, _ number: Int) -> Int? {
    var count = 0
    var previous = EntrySlot.none
    var slot = order.oldest
    while slot != .none {
      let record = table.records[slot]
      guard record.next != EntryRecord.stray, record.next != EntryRecord.stuck,
        record.previous == previous, orderNumber(of: slot) == number
      else { return nil }
      count += 1
      (previous, slot) = (slot, record.next)
    }
    return previous == order.newest ? count : nil
  }

  fileprivate var contradictionOfExpiries: String? {
    let nodes = expiries.nodes
    for position in 0..<nodes.count {
      let node = nodes[position]
      if table.records[node.slot].expiryNode.index != position {
        return "a slot does not know its node"
      }
      if node.stamp >= .never { return "a slot in the heap never expires" }
      if position > 0 && table.precedes(node, nodes[(position - 1) / 4]) {
        return "a slot expires before the one above it"
      }
    }
    let expiring = (0..<table.slotCount).map { EntrySlot($0) }.count {
      table.isUsed($0) && table.records[$0].expiryNode != .none
    }
    return expiring == nodes.count ? nil : "\(expiring) slots expire, \(nodes.count) have nodes"
  }
}
