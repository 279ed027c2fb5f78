public import LarderBasics

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
    entries.initialize(at: slot.index, to: (key, value))
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

/// The way to less memory when little of it is in use, in slices between which other threads get
/// the lock and change the slab:
///
/// 1. `compactSlice()` moves the entries of the last slots to the first free ones, until no free
///    slot is left between the two. Slots freed behind it go to the free chain, as ever.
/// 2. Each column is cut off behind the last entry, one in each slice and the links first. Until
///    the last is, the others have room for more slots than the links, which decide when to grow.
/// 3. The table gets fewer buckets, and its words move. See `SlotTable`.
extension Slab {
  /// Takes the next step to less memory if less than an eighth of it is in use.
  ///
  /// - Returns: Whether another step has to follow. Entries are in other slots then.
  /// - Complexity: O(1), about 0.1 ms. All steps together take O(*n*), at most once per seven times
  ///   as many removals.
  mutating func shrinkSlice() -> Bool {
    let isCompacting = chainEnd != .max
    if table.isShrinking || isCompacting && table.oldCount > 0 {
      table.migrate(Self.sliceCost)
    } else if isCompacting {
      if compactSlice() { cutOff() }
    } else if entries.capacity > links.capacity {
      resizeEntries(links.capacity)
    } else if hasTimes, times.capacity > links.capacity {
      resizeTimes(links.capacity)
    } else {
      // Small slabs keep their memory: moving would cost more than it gives back.
      guard links.capacity > 1_024, count < links.capacity / 8 else { return false }
      (free, chainEnd) = (.none, 1)
    }
    return true
  }

  /// The cost of a slice in looks at a slot or a bucket, each of which takes 1 to 2 ns.
  private static var sliceCost: Int { 16_384 }

  /// The cost of moving an entry, which takes up to 300 ns, because no part of it is in the
  /// processor's caches.
  private static var moveCost: Int { 128 }

  /// Moves entries from the last slots to the first free ones. The free slots from `chainEnd` on
  /// are known by their marks alone.
  ///
  /// - Returns: Whether all slots below `end` are taken or in the free chain.
  private mutating func compactSlice() -> Bool {
    var cost = Self.sliceCost
    while chainEnd < end, cost > 0 {
      cost -= 1
      if !isOccupied(Slot(end - 1)) {
        end -= 1
      } else if isOccupied(Slot(chainEnd)) {
        chainEnd += 1
      } else {
        move(Slot(end - 1), to: Slot(chainEnd))
        end -= 1
        chainEnd += 1
        cost -= Self.moveCost
      }
    }
    return chainEnd >= end
  }

  /// Moves an entry to a free slot that is not in the free chain.
  private mutating func move(_ old: Slot, to new: Slot) {
    let link = links[old.index]
    entries.initialize(at: new.index, to: entries.move(at: old.index))
    links[new.index] = link
    if link.previous == .none { mostRecent = new } else { links[link.previous.index].next = new }
    if link.next == .none { leastRecent = new } else { links[link.next.index].previous = new }
    table.replace(link.tag, old, with: new)
    if hasTimes { times[new.index] = times[old.index] }
    if link.cost == SlotLink.spilledCost {
      spilledCosts[new] = spilledCosts.removeValue(forKey: old)
    }
  }

  /// Ends a compaction, and cuts off the links if other threads have not filled the slab meanwhile.
  private mutating func cutOff() {
    chainEnd = .max
    guard Int(end) < links.capacity / 4 else { return }
    resizeLinks(Int(end))
    table.resize(bits: SlotTable.bits(forCount: count))
  }
}
