import LarderBasics
import LarderSystem

/// An entry that was chosen to go and has left the index. The thread that chose it holds its name.
package struct Victim: Sendable, Hashable {
  package let entry: IndexedEntry
  /// The cause that its removal is counted with.
  let cause: RemovalCause
}

/// The progress of one thread that evicts entry by entry.
struct TrimCourse: Sendable {
  var plan: TrimPlan
  /// Whether the goals are those that the purge which is going on has at each choice. If there is
  /// none any more, the course is over.
  let isPurge: Bool
  /// The bytes on disk that were freed, here or by another process.
  var freed: UInt64 = 0
  private(set) var result = BulkRemoval()
  /// Whether the plan asks for more, but threads hold the names of all entries that could go.
  private(set) var isBlocked = false
  /// The latest names whose files were found changed. From the second time on they are passed over.
  private var changed: [EntryName] = []
  private var changedInRow = 0
  private var goneInRow = 0

  /// The number of names that are passed over at most, because each costs every step after it.
  private static let mostChanged = 64

  init(_ plan: TrimPlan) { (self.plan, isPurge) = (plan, false) }

  /// Begins a course that takes part in the purge.
  init(purgingAt now: Timestamp) {
    (plan, isPurge) = (TrimPlan(now: now, protected: nil), true)
  }

  /// Takes the entry that goes next out of an index; nil if the plan is fulfilled, or if all
  /// entries that could go are held.
  ///
  /// - Parameter held: The names that threads are changing. They are passed over.
  /// - Complexity: O(log n).
  mutating func takeNext(from index: inout EntryIndex, held: [EntryName] = []) -> Victim? {
    isBlocked = false
    guard changedInRow < 2 * Self.mostChanged else { return nil }
    var isBlocked = false
    let (plan, freed, changed) = (plan, freed, changed)
    func mayGo(_ name: EntryName) -> Bool {
      if name == plan.protected || changed.count(where: { $0 == name }) > 1 { return false }
      if held.contains(name) { isBlocked = true }
      return !held.contains(name)
    }
    let totals = index.totals
    func isFulfilled(_ next: Timestamp) -> Bool {
      plan.isFulfilled(by: totals, freed: freed, next: next)
    }
    if plan.takesAllExpired || !isFulfilled(Timestamp(seconds: .max)),
      let entry = index.takeExpired(at: plan.now, where: mayGo)
    {
      return Victim(entry: entry, cause: .expired)
    }
    if let entry = index.takeLeastRecent(where: mayGo, if: { !isFulfilled($0) }) {
      return Victim(entry: entry, cause: plan.cause)
    }
    self.isBlocked = isBlocked
    return nil
  }

  /// Adds the outcome for a victim.
  mutating func add(_ outcome: RemovalOutcome, of victim: Victim) {
    result.add(BulkRemoval(outcome, of: victim.entry.byteCount))
    if outcome.hasFreed { freed.addSaturating(victim.entry.allocatedByteCount) }
    if case .changed(nil) = outcome { goneInRow += 1 } else { goneInRow = 0 }
    guard case .changed(_?) = outcome else {
      changedInRow = 0
      return
    }
    changedInRow += 1
    if changed.count == Self.mostChanged { changed.removeFirst() }
    changed.append(victim.entry.name)
  }

  /// Whether so many files in a row were gone that events or scans must have missed their removal.
  /// Counts anew from then on.
  mutating func takeMissing() -> Bool {
    guard goneInRow >= 64 else { return false }
    goneInRow = 0
    return true
  }
}

extension EntryIndex {
  /// Takes out all entries that a plan demands.
  ///
  /// - Complexity: O(k log n) for k victims.
  package mutating func take(_ plan: TrimPlan) -> [Victim] {
    var (course, victims) = (TrimCourse(plan), [Victim]())
    while let victim = course.takeNext(from: &self) {
      course.add(.removed, of: victim)
      victims.append(victim)
    }
    return victims
  }
}
