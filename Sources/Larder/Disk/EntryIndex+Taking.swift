extension EntryIndex {
  /// Takes out all entries that have expired, the earliest first.
  ///
  /// - Complexity: O(k log n) for k expired ones.
  mutating func takeExpired(at now: Timestamp, except protected: EntryName?) -> [Victim] {
    var victims: [Victim] = []
    var kept: UInt32?
    let limit = PackedStamp(now)
    while let slot = expiries.first, slots[slot].expiry <= limit {
      if name(at: slot) == protected {
        expiries.remove(slot, in: &slots)
        kept = slot
      } else {
        victims.append(take(slot))
      }
    }
    if let kept { expiries.insert(kept, in: &slots) }
    return victims
  }

  /// Takes out the least recently used entries until a plan is fulfilled. Ties of last access go
  /// by name where the stamps alone gave the order.
  ///
  /// - Complexity: O(k) for k victims, and O(n + s log s) when s entries wait for their place.
  mutating func takeVictims(of plan: TrimPlan) -> [Victim] {
    settleStrays()
    var victims: [Victim] = []
    var freed: UInt64 = 0
    var slot = order.oldest
    while slot != IndexSlot.none, !plan.isFulfilled(by: self, freed: freed, next: slots[slot]) {
      let next = slots[slot].newer
      if name(at: slot) != plan.protected {
        freed += slots[slot].allocatedByteCount
        victims.append(take(slot))
      }
      slot = next
    }
    return victims
  }

  private mutating func take(_ number: UInt32) -> Victim {
    let victim = Victim(entry(at: number))
    remove(number)
    return victim
  }

  /// Gives the strays their places in the order, in one pass.
  mutating func settleStrays() {
    guard strays.count > 0 else { return }
    var waiting = strays.numbers(in: slots)
    waiting.sort { comesBefore($0, $1) }
    var merged = SlotList()
    var number = order.oldest
    var index = 0
    while number != IndexSlot.none || index < waiting.count {
      let takesStray =
        index < waiting.count && (number == IndexSlot.none || comesBefore(waiting[index], number))
      if takesStray {
        slots[waiting[index]].isStray = false
        merged.append(waiting[index], in: &slots)
        index += 1
      } else {
        let next = slots[number].newer
        merged.append(number, in: &slots)
        number = next
      }
    }
    order = merged
    strays = SlotList()
  }

  private func comesBefore(_ a: UInt32, _ b: UInt32) -> Bool {
    let (x, y) = (slots[a].access, slots[b].access)
    return x == y ? name(at: a) < name(at: b) : x < y
  }

  /// All entries, the least recently used first.
  ///
  /// - Complexity: O(n).
  mutating func entriesInOrder() -> [IndexedEntry] {
    settleStrays()
    return order.numbers(in: slots).map(entry(at:))
  }
}
