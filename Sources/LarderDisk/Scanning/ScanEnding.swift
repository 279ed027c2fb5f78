/// The progress of the end of a scan.
struct ScanEnding: Sendable {
  let number: Int
  let outcome: DiskStatistics.ScanProgress
  /// The plan of a sweep at this moment; nil where nothing may be removed.
  let sweep: TrimPlan?
  fileprivate(set) var isOver = false
  fileprivate var eviction: Eviction?
  fileprivate var course: TrimCourse?
  fileprivate var isSwept = false
  /// The names that the scan has noted, released outside of the engine's lock.
  fileprivate var remains: NameSet?

  init(number: Int, outcome: DiskStatistics.ScanProgress, sweep: TrimPlan?) {
    (self.number, self.outcome, self.sweep) = (number, outcome, sweep)
  }
}

extension EngineState {
  /// Takes one step towards the end of a scan: chooses a few victims, or ends it.
  ///
  /// Until the end the scan counts as running, so that totals wait for it. A later scan leaves the
  /// sweeping to the sweeps: it must not change when what goes. A trim that waits for the scan takes
  /// and reports the expired entries itself.
  ///
  /// - Parameter limits: Makes the plan that the limits ask for, once what has expired is gone.
  mutating func proceed(with ending: inout ScanEnding, limits: (EngineState) -> TrimPlan?) {
    guard let sweep = ending.sweep, scans.isFirst(ending.number), ending.outcome == .finished,
      !self.limits.hasWaitingTrim,
      !phase.isShutDown
    else { return end(&ending) }
    if ending.course == nil { begin(sweep, in: &ending) }
    guard takeSlice(&ending) else { return }
    if !ending.isSwept {
      ending.isSwept = true
      // Threads that waited for the scan find what the limits leave. The files go when this process
      // is elected.
      if let plan = limits(self) {
        counters.countPurge()
        begin(plan, in: &ending)
        guard takeSlice(&ending) else { return }
      }
    }
    end(&ending)
  }

  private mutating func begin(_ plan: TrimPlan, in ending: inout ScanEnding) {
    ending.course = TrimCourse(plan)
    ending.eviction = evictions.begin()
  }

  /// - Returns: Whether that was all.
  private mutating func takeSlice(_ ending: inout ScanEnding) -> Bool {
    guard var course = ending.course, let eviction = ending.eviction else { return true }
    evictSlice(&course, eviction)
    ending.course = course
    return course.isDone
  }

  private mutating func end(_ ending: inout ScanEnding) {
    // One that is given up, since the directory was replaced or the engine ends, has its victims.
    if let eviction = ending.eviction, !eviction.isComplete { evictions.endChoosing(eviction) }
    ending.remains = endScan(ending.number, ending.outcome)
    ending.isOver = true
  }
}
