import LarderSystem

/// Which step follows which signal at which time: a decision without clock, thread or cache.
struct MemoryPressureLadder: Sendable {
  /// What the first signal costs.
  let share: Double
  /// A signal within this time of the one before costs everything.
  let escalation: Duration
  /// How long no signal must come until limits are restored.
  let recovery: Duration
  /// The latest signal; nil while memory is not short.
  private(set) var lastSignal: MonotonicTime?

  init(share: Double, escalation: Duration, recovery: Duration) {
    self.share = share
    self.escalation = escalation
    self.recovery = recovery
  }

  /// When limits are to be restored if no signal comes before; nil when they are as they were set.
  var deadline: MonotonicTime? { lastSignal?.advanced(by: recovery) }

  /// The step that a signal asks for.
  mutating func signal(at now: MonotonicTime) -> MemoryPressureStep {
    defer { lastSignal = now }
    guard let lastSignal, now.duration(since: lastSignal) <= escalation else {
      return .reduce(share: share)
    }
    return .empty
  }

  /// The step that time alone asks for.
  mutating func step(at now: MonotonicTime) -> MemoryPressureStep? {
    guard let deadline, deadline <= now else { return nil }
    return end()
  }

  /// The step that the end of watching asks for: nobody would restore the limits later.
  mutating func end() -> MemoryPressureStep? {
    guard lastSignal != nil else { return nil }
    lastSignal = nil
    return .restore
  }
}
