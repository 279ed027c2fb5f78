package import LarderBasics

/// A removal of many entries, by what is left afterwards.
package enum TrimGoal: Sendable, Hashable {
  /// What has not expired.
  case living
  /// At most this many bytes.
  case size(Int)
  /// At most this many entries.
  case count(Int)
  /// What was used since a time ago.
  case age(Duration)
  /// Nothing.
  case nothing
}

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

  /// What a trim to a goal would remove if it ran now. Changes nothing, so that a cache that only
  /// reads can answer; waits for the first scan.
  package func preview(_ goal: TrimGoal) throws(CacheError) -> BulkRemoval {
    let (expired, evicted) = try victims(goal)
    var removal = BulkRemoval()
    for victim in expired + evicted { removal.add(victim) }
    return removal
  }

  /// The names of what a trim to a goal would remove if it ran now, in the order in which they
  /// would go.
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
    let plan = plan(for: goal)
    // A copy of the index is made to be trimmed in the place of the real one.
    // Chunks are shared until they are written to: only those that the victims touch are copied.
    var index = engine.withState { $0.index }
    return index.take(plan)
  }

  /// The same plans as the removals make, so that the answer is that of the real run.
  private func plan(for goal: TrimGoal) -> TrimPlan {
    var plan = TrimPlan(now: engine.now, protected: nil)
    switch goal {
    case .living: return engine.sweepPlan(at: plan.now)
    case .size(let byteCount): plan.setMaximum(UInt64(byteCount), configuration.sizeMeasure)
    case .count(let count): plan.maximumCount = count
    case .age(let age): plan.setMaximumAge(age, at: plan.now)
    case .nothing: plan.maximumCount = 0
    }
    return plan
  }
}

extension BulkRemoval {
  fileprivate mutating func add(_ victim: Victim) {
    removed += 1
    byteCount.addSaturating(victim.byteCount)
  }
}
