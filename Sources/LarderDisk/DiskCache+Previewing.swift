package import LarderBasics
import LarderSystem

extension DiskCache {
  /// Removes entries until a goal is reached.
  package func trim(to goal: TrimGoal) throws(CacheError) -> BulkRemoval {
    switch goal {
    case .living: try removeExpired()
    case .size(let byteCount): try trim(toCost: byteCount)
    case .count(let count): try trim(toCount: count)
    case .age(let age): try trim(toAge: age)
    case .nothing: try removeAll()
    }
  }

  /// Returns the removal that a trim to a goal would make if it ran now. Changes nothing, so it
  /// works for a cache that only reads. Waits for the first scan.
  package func preview(_ goal: TrimGoal) throws(CacheError) -> BulkRemoval {
    let (expired, evicted) = try victims(goal)
    var removal = BulkRemoval()
    for victim in expired + evicted { removal.add(victim) }
    return removal
  }

  /// Returns the names of the entries that a trim to a goal would remove if it ran now, in the
  /// order of their removal.
  package func names(takenBy goal: TrimGoal) throws(CacheError) -> (
    expired: [EntryName], evicted: [EntryName]
  ) {
    let (expired, evicted) = try victims(goal)
    return (expired.map(\.name), evicted.map(\.name))
  }

  private func victims(_ goal: TrimGoal) throws(CacheError) -> (
    expired: [Victim], evicted: [Victim]
  ) {
    try checkUsable("preview")
    try engine.waitForScan()
    // The same plan as the removal itself makes.
    let plan = TrimPlan(for: goal, at: engine.now, configuration)
    // A copy of the index is trimmed. Its chunks are shared until they are written to, so only
    // those that the victims touch are copied.
    var index = engine.withState { $0.index }
    return index.take(plan)
  }
}

extension BulkRemoval {
  fileprivate mutating func add(_ victim: Victim) {
    removed += 1
    byteCount.addSaturating(victim.byteCount)
  }
}
