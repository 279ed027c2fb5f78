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
