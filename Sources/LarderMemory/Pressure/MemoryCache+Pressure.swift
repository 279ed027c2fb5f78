import LarderBasics

extension MemoryCache: MemoryPressureResponding {
  /// Gives memory up, or takes the right to it back.
  ///
  /// `.reduce` evicts the least recently used values until a share of their cost is gone, and
  /// lowers the limit to what is left; `.empty` evicts all; `.restore` puts the limit back to what
  /// it was set to, and the cache grows as values are stored. ``costLimit`` and ``countLimit`` tell
  /// and take what is set, lowered or not. While the limit is lowered, a value that costs more than
  /// it is rejected as too large. With several stripes each gives up its share.
  ///
  /// A share that is not above 0 and below 1 traps.
  ///
  /// - Complexity: O(*m*) for *m* evicted, which are released outside of the lock.
  public func respond(to step: MemoryPressureStep) {
    switch step {
    case .reduce(let share):
      precondition(share > 0 && share < 1, "share must be above 0 and below 1")
      reduce(by: share)
    case .empty: removeAll(.evicted)
    case .restore: restoreLimits()
    }
  }

  private func reduce(by share: Double) {
    let now = now
    _ = removing { $0.reduce(by: share, at: now, into: &$1) }
    setLimits { $0 }
  }

  private func restoreLimits() {
    for index in 0...stripeMask { withStripe(at: index) { $0.liftCeilings() } }
    setLimits { $0 }
  }
}
