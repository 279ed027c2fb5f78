extension Slab {
  /// Returns the slot of a key, or none.
  @inlinable @inline(__always)
  func find(_ key: Key, tag: UInt32) -> Slot {
    table.first(tag) { entries[$0.index].key == key }
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
    // The link of a free slot carries the free chain, and points back to itself, which the link of
    // an entry never does.
    links[slot.index].next = free
    links[slot.index].previous = slot
    free = slot
    count &-= 1
    return entries.move(at: slot.index)
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

  /// Doubles the columns. Called when no slot below `end` is free, so that all can be moved.
  @inlinable
  mutating func grow() {
    let used = Int(end)
    let capacity = max(used * 2, 8)
    links.reallocate(capacity: capacity, keeping: 1..<used)
    entries.reallocate(capacity: capacity, keeping: 1..<used)
    if hasTimes { times.reallocate(capacity: capacity, keeping: 0..<used) }
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

  /// Starts to keep times. Existing entries count as used at `now`.
  @inlinable
  mutating func addTimes(at now: PackedTime) {
    guard !hasTimes else { return }
    let unset = SlotTimes(expiry: .never, lastUse: now, lifetime: .fixed)
    times = SlotBuffer(repeating: unset, count: links.capacity)
    hasTimes = true
  }
}

extension Slab {
  /// Moves the entries to less memory when less than an eighth of it is in use.
  ///
  /// - Returns: Whether it did, so that entries are in other slots now.
  /// - Complexity: O(*n*), at most once per seven times as many removals.
  mutating func shrinkIfSparse() -> Bool {
    // Small slabs keep their memory: moving would cost more than it gives back.
    guard links.capacity > 1_024, count < links.capacity / 8 else { return false }
    var smaller = Slab(minimumCapacity: count)
    if hasTimes { smaller.addTimes(at: .zero) }
    // From the least recent one on, because each insertion at the front makes an entry the most
    // recent.
    while leastRecent != .none {
      let old = leastRecent
      let (tag, cost) = (links[old.index].tag, cost(of: old))
      let times = hasTimes ? self.times[old.index] : nil
      let entry = remove(old)
      let new = smaller.insert(entry.key, entry.value, tag: tag, cost: cost)
      if let times { smaller.times.initialize(at: new.index, to: times) }
    }
    swap(&self, &smaller)
    return true
  }
}
