/// How far a plan has been carried out.
///
/// A plan is carried out in slices, between which whoever waits for the index has it: choosing half
/// a million victims at once would make every reader wait for half a second.
struct TrimCourse: Sendable {
  let plan: TrimPlan
  /// The bytes on disk that the victims so far give back.
  private(set) var freed: UInt64 = 0
  private var hasTakenExpired = false
  /// Whether the plan is fulfilled.
  private(set) var isDone = false

  init(_ plan: TrimPlan) {
    self.plan = plan
  }

  /// Victims per slice.
  // 30 to 60 µs for who waits, and the lock itself still costs nothing beside the choosing.
  static let sliceCount = 64
}

extension TrimCourse {
  /// Takes the next victims out of an index: the expired ones first, then the least recently used
  /// as far as the plan demands by what is there now.
  ///
  /// - Complexity: O(k log n) for k victims.
  mutating func takeSlice(
    of index: inout EntryIndex, atMost count: Int = sliceCount
  ) -> (expired: [Victim], evicted: [Victim]) {
    let start = index.totals
    defer { freed = sum(index.totals, start) }
    var expired: [Victim] = []
    if !hasTakenExpired {
      expired = index.takeExpired(at: plan.now, except: plan.protected, atMost: count)
      if expired.count == count { return (expired, []) }
      hasTakenExpired = true
    }
    let room = count - expired.count
    let evicted = index.takeLeastRecent(except: plan.protected, atMost: room) { totals, next in
      !plan.isFulfilled(by: totals, freed: sum(totals, start), next: next)
    }
    isDone = evicted.count < room
    return (expired, evicted)
  }

  /// The bytes given back until now, or the most that 64 bits hold.
  private func sum(_ totals: IndexTotals, _ start: IndexTotals) -> UInt64 {
    let (sum, isHuge) = freed.addingReportingOverflow(
      totals.allocatedByteCount(missingSince: start))
    return isHuge ? .max : sum
  }
}
