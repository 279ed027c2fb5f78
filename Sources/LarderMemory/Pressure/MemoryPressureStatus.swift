/// What a monitor watches and what it has done: a snapshot that does not change.
///
/// | event | counter |
/// |---|---|
/// | the kernel or the application signals | `signals`, and `reductions` or `emptyings` |
/// | the limits are restored | `restorations` |
public struct MemoryPressureStatus: Sendable, Hashable {
  /// What tells the monitor that memory is short.
  @nonexhaustive
  public enum Source: Sendable, Hashable {
    /// The file in which the kernel tells of the pressure on a cgroup or on the machine.
    case file(String)
    /// A descriptor that was handed in.
    case descriptor
    /// Nothing: the kernel offers none, or it may not be used, or there is no more. The sentence
    /// says which. Signals of the application still count.
    case none(reason: String)
  }

  /// What tells the monitor that memory is short.
  public internal(set) var source: Source
  /// Whether limits are lowered.
  public internal(set) var isUnderPressure = false
  /// Signals that memory is short.
  public internal(set) var signals = 0
  /// Steps in which a share was given up.
  public internal(set) var reductions = 0
  /// Steps in which everything was given up.
  public internal(set) var emptyings = 0
  /// Steps in which the limits were restored.
  public internal(set) var restorations = 0

  init(source: Source) {
    self.source = source
  }

  /// Whether something tells the monitor that memory is short.
  public var isWatching: Bool {
    if case .none = source { return false }
    return true
  }

  /// Counts a step that was decided on.
  mutating func count(_ step: MemoryPressureStep) {
    isUnderPressure = step != .restore
    switch step {
    case .reduce: reductions += 1
    case .empty: emptyings += 1
    case .restore: restorations += 1
    }
  }
}
