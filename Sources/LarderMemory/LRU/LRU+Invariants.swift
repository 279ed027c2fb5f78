#if DEBUG || LARDER_INVARIANTS
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
#endif
