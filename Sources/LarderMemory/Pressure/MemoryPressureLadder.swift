import LarderBasics
import LarderSystem

/// The rule that maps signals and their times to steps, without clock, thread or cache.
struct MemoryPressureLadder: Sendable {
  let configuration: MemoryPressureMonitor.Configuration
  /// The latest signal; nil while memory is not short.
  private(set) var lastSignal: MonotonicTime?

  /// The time at which the limits are restored if no signal comes; nil while they are not lowered.
  var deadline: MonotonicTime? { lastSignal?.advanced(by: configuration.recoveryTime) }

  /// Returns the step for a signal.
  mutating func signal(at now: MonotonicTime) -> MemoryPressureStep {
    defer { lastSignal = now }
    guard let lastSignal, now.duration(since: lastSignal) <= configuration.escalationTime else {
      return .reduce(share: configuration.share)
    }
    return .empty
  }

  /// Returns the step that is due without a signal, if any.
  mutating func step(at now: MonotonicTime) -> MemoryPressureStep? {
    guard let deadline, deadline <= now else { return nil }
    return end()
  }

  /// Returns the step for the end of watching, because nothing would restore the limits later.
  mutating func end() -> MemoryPressureStep? {
    guard lastSignal != nil else { return nil }
    lastSignal = nil
    return .restore
  }
}

/// A step in response to a change of memory pressure.
public enum MemoryPressureStep: Sendable, Hashable {
  /// Give up a share of what is held, above 0 and below 1, and hold no more than the rest.
  case reduce(share: Double)
  /// Give up everything, and hold no more than the last reduction allowed.
  case empty
  /// Memory is no longer short: hold what the settings allow.
  case restore
}

/// A cache that frees memory when memory is short: the memory tier, a cache with two tiers, or a
/// type of your own.
public protocol MemoryPressureResponding: AnyObject, Sendable {
  /// Carries out a step. Called on the monitor's thread, one step after the other.
  func respond(to step: MemoryPressureStep)
}

/// The source that a monitor watches and its counters: a snapshot that does not change.
public struct MemoryPressureStatus: Sendable, Hashable {
  /// The source of the signals that memory is short.
  @nonexhaustive
  public enum Source: Sendable, Hashable {
    /// The kernel's file about the memory pressure on a cgroup or on the machine.
    case file(String)
    /// A descriptor that was passed in.
    case descriptor
    /// No source: the kernel offers none, or it may not be used, or it is gone. The sentence says
    /// which. Signals of the application still count.
    case none(reason: String)
  }

  /// The source of the signals that memory is short.
  public internal(set) var source: Source
  /// Whether limits are lowered.
  public internal(set) var isUnderPressure = false
  /// Signals by the kernel or the application that memory is short.
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

  /// Whether there is a source of signals.
  package var isWatching: Bool {
    if case .none = source { return false }
    return true
  }

  /// Counts a step and records whether limits are lowered.
  mutating func count(_ step: MemoryPressureStep) {
    isUnderPressure = step != .restore
    switch step {
    case .reduce: reductions += 1
    case .empty: emptyings += 1
    case .restore: restorations += 1
    }
  }
}

extension MemoryCache: MemoryPressureResponding {
  /// Evicts values and lowers the limit, or restores it.
  ///
  /// `.reduce` evicts the least recently used values until a share of their cost is gone, and
  /// lowers the limit to what is left. `.empty` evicts all values. `.restore` sets the limit back
  /// to the set one, and the cache grows as values are stored. ``costLimit`` and ``countLimit``
  /// always read and write the set limit, not the lowered one. While the limit is lowered, a value
  /// that costs more than it is rejected as too large. With several stripes, each gives up its
  /// share.
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
    _ = removing(at: now) { _, isFirst, lru, removals in
      if isFirst { lru.setCeilings(without: share) }
      return lru.evictSlice(.evicted, at: now, into: &removals) { $0.isAboveCeilings }
    }
    setLimits { _ in }
  }

  private func restoreLimits() {
    for index in 0...stripeMask { withStripe(at: index) { $0.liftCeilings() } }
    setLimits { _ in }
  }
}
