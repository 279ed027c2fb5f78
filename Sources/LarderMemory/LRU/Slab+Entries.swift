extension Slab {
  /// Returns the slot of a key, or none.
  @inlinable @inline(__always)
  func find(_ key: Key, tag: UInt32) -> Slot {
    table.first(tag) { entries[$0.index].key == key }
  }

  /// Returns the slot of a key if it is in the new buckets of the table, or none. All are in these
  /// unless the table is being changed.
  @inlinable @inline(__always)
  func findInNewBuckets(_ key: Key, tag: UInt32) -> Slot {
    table.buckets.first(tag) { entries[$0.index].key == key }
  }

  /// Adds an entry with a new key, as the most recently used one.
  @inlinable
  mutating func insert(_ key: Key, _ value: Value, tag: UInt32, cost: Int) -> Slot {
    if count == table.capacity { table.grow() }
    let slot = takeFreeSlot()
    entries.initialize(at: slot.index, to: Entry(key: key, value: value))
    links.initialize(
      at: slot.index, to: SlotLink(previous: .none, next: .none, tag: tag, cost: 0))
    setCost(cost, of: slot)
    linkAtFront(slot)
    table.insert(tag, slot)
    count &+= 1
    return slot
  }

  /// Takes an entry out and returns it.
  @inlinable
  mutating func remove(_ slot: Slot) -> Entry {
    setCost(0, of: slot)
    unlink(slot)
    table.remove(links[slot.index].tag, slot)
    addFreeSlot(slot)
    count &-= 1
    return entries.move(at: slot.index)
  }
}

extension Slab {
  /// Marks a slot as free, and adds it to the free chain.
  @inlinable
  mutating func addFreeSlot(_ slot: Slot) {
    // The link of a free slot carries the free chain, and points back to itself, which the link of
    // an entry never does.
    links[slot.index].previous = slot
    // A compaction finds the slots that it has not reached by their marks.
    guard slot.number < chainEnd else { return }
    links[slot.index].next = free
    free = slot
  }

  /// Returns a free slot: the one freed last, else one that was never used.
  @inlinable
  mutating func takeFreeSlot() -> Slot {
    if free != .none {
      let slot = free
      free = links[slot.index].next
      return slot
    }
    if end == links.capacity { grow() }
    end &+= 1
    return Slot(end &- 1)
  }

  /// Doubles the columns.
  @inlinable @inline(never)
  mutating func grow() {
    let capacity = max(Int(end) * 2, 8)
    resizeLinks(capacity)
    resizeEntries(capacity)
    if hasTimes { resizeTimes(capacity) }
  }

  @inlinable
  mutating func resizeLinks(_ capacity: Int) {
    links.reallocate(capacity: capacity, keeping: 1..<Int(end)) { _ in true }
  }

  /// Changes the capacity of the entries to one for which the links are large enough.
  @inlinable
  mutating func resizeEntries(_ capacity: Int) {
    entries.reallocate(capacity: capacity, keeping: 1..<Int(end)) {
      links[$0].previous.index != $0
    }
  }

  @inlinable
  mutating func resizeTimes(_ capacity: Int) {
    times.reallocate(capacity: capacity, keeping: 1..<Int(end)) { _ in true }
  }
}

extension Slab {
  /// Returns the cost of an entry.
  @inlinable
  func cost(of slot: Slot) -> Int {
    let cost = links[slot.index].cost
    return cost == SlotLink.spilledCost ? spilledCosts[slot] ?? 0 : Int(cost)
  }

  /// Sets the cost of an entry, and updates the total.
  @inlinable
  mutating func setCost(_ cost: Int, of slot: Slot) {
    totalCost += cost - self.cost(of: slot)
    if links[slot.index].cost == SlotLink.spilledCost { spilledCosts[slot] = nil }
    if cost < Int(SlotLink.spilledCost) {
      links[slot.index].cost = UInt32(truncatingIfNeeded: cost)
    } else {
      links[slot.index].cost = SlotLink.spilledCost
      spilledCosts[slot] = cost
    }
  }

  /// Starts to keep times. Existing entries count as used at `now`, and never expire.
  ///
  /// - Complexity: O(1), because the bits of their times are 0, see `SlotTimes`.
  @inlinable
  mutating func addTimes(at now: PackedTime) {
    guard !hasTimes else { return }
    times = SlotBuffer(zeroedCapacity: links.capacity)
    timesStart = now
    hasTimes = true
  }

  /// Returns the last use of an entry. Times must be kept.
  @inlinable
  func lastUse(of slot: Slot) -> PackedTime {
    let time = times[slot.index].lastUse
    return time == .zero ? timesStart : time
  }
}
