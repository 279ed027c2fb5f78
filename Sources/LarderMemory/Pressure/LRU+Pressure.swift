import LarderBasics

extension LRU {
  /// Evicts the least recently used until a share of the cost is given up, and lowers the limits to
  /// what is left, once they are set again.
  ///
  /// Where entries cost nothing their count is what counts. An empty one keeps its limits, since it
  /// has nothing to give up.
  mutating func reduce(
    by share: Double, at now: PackedTime, into removals: inout Removals<Key, Value>
  ) {
    removeExpired(besides: .none, at: now, into: &removals)
    if slab.totalCost > 0 {
      settings.costCeiling = Self.rest(of: slab.totalCost, without: share)
      evict(toCost: settings.costCeiling, besides: .none, .evicted, at: now, into: &removals)
    } else if slab.count > 0 {
      settings.countCeiling = Self.rest(of: slab.count, without: share)
      evict(toCount: settings.countCeiling, besides: .none, .evicted, at: now, into: &removals)
    }
  }

  /// Takes back what lowers the limits, once they are set again.
  mutating func liftCeilings() {
    settings.costCeiling = .max
    settings.countCeiling = .max
  }

  /// What stays of an amount; never nothing, or a limit of it would let nothing in.
  private static func rest(of amount: Int, without share: Double) -> Int {
    max(1, amount - Int((Double(amount) * share).rounded(.down)))
  }
}
